import { createRequire } from "node:module";
import type * as countryCoder from "@rapideditor/country-coder";
import type { opening_hours } from "opening_hours";
import type { Point } from "#src/domain/geo.ts";
import { minuteMs } from "#src/domain/units.ts";
import { dayMinutes, weekMinutes } from "#src/domain/wall-clock.ts";

/** Loaded at the first use: the two take 0.4 s and 40 MB, which most processes never need. */
const load = createRequire(import.meta.url);

type HoursClass = typeof opening_hours;

/** Times at which a station is open, in minutes from the start of a week or of one day. */
export interface OpenTimes {
  /** The same every week; else of one day alone. */
  weekly: boolean;
  /** Pairs of from and to. */
  open: Uint16Array;
  /** The same, of times that the text itself calls unknown, or open with a comment ("by appointment"). */
  unsure: Uint16Array;
}

/** School holidays, which the library has for few places, and the sun, which would need one for each station. */
const beyondUs = /\b(SH|sunrise|sunset|dawn|dusk)\b/i;

/**
 * The open times of a text in the manner of OSM: of the week, or, where weeks differ, of the day that begins at
 * `dayStart`, minutes on the station's own clock. Null when they are unknown: a text that cannot be read, or that asks for
 * what is not known at `place`.
 */
export function readOpenTimes(text: string, place: Point, dayStart: number): OpenTimes | null {
  try {
    const hours = parse(text, place);
    if (hours === null) return null;
    const weekly = hours.isWeekStable();
    return { weekly, ...spansOf(hours, weekly ? monday : dayStart, weekly ? 7 : 1) };
  } catch {
    return null;
  }
}

/** The reason why a text is no opening hours, in English; null for one that can be read. */
export function hoursFault(text: string): string | null {
  try {
    const Class = load("opening_hours") as HoursClass;
    new Class(text, null).isWeekStable();
    return null;
  } catch (error) {
    return String(error).slice(0, 200);
  }
}

/** Monday of a week in which no zone of the world changes its clocks. */
const monday = Date.UTC(2024, 0, 1) / minuteMs;

function parse(text: string, place: Point): opening_hours | null {
  const Class = load("opening_hours") as HoursClass;
  if (beyondUs.test(text)) return null;
  if (!/\bPH\b/i.test(text)) return new Class(text, null);
  const coder = load("@rapideditor/country-coder") as typeof countryCoder;
  const country = coder.iso1A2Code([place.lon, place.lat])?.toLowerCase() ?? "";
  if (!hasHolidays(Class, country)) return null;
  return new Class(text, { ...place, address: { country_code: country, state: "" } });
}

const holidays = new Map<string, boolean>();

/** Whether the library knows a country's holidays. It writes a line to stderr when it does not, so it is asked once. */
function hasHolidays(Class: HoursClass, country: string): boolean {
  let has = holidays.get(country);
  if (has !== undefined) return has;
  try {
    const place = { lat: 0, lon: 0, address: { country_code: country, state: "" } };
    new Class("PH off", place).getState(new Date(2024, 0, 1));
    has = true;
  } catch {
    has = false;
  }
  holidays.set(country, has);
  return has;
}

/**
 * The open spans from the day that starts at `start`, minutes, over `days`. The library reads the fields of a date in
 * this process's zone, so it gets dates with the station's fields, and its answers are read by their fields too.
 */
function spansOf(hours: opening_hours, start: number, days: number): Omit<OpenTimes, "weekly"> {
  const first = new Date(start * minuteMs);
  const dateOf = (day: number): Date =>
    new Date(first.getUTCFullYear(), first.getUTCMonth(), first.getUTCDate() + day);
  const minutesOf = (date: Date): number => {
    const [year, month, day] = [date.getFullYear(), date.getMonth(), date.getDate()];
    return Date.UTC(year, month, day, date.getHours(), date.getMinutes()) / minuteMs - start;
  };
  const most = days === 1 ? dayMinutes : weekMinutes;
  const found = hours.getOpenIntervals(dateOf(0), dateOf(days));
  const spans = (unknown: boolean): Uint16Array =>
    Uint16Array.from(
      found
        .filter(([, , isUnknown]) => isUnknown === unknown)
        .flatMap(([from, to]) => [Math.max(0, minutesOf(from)), Math.min(most, minutesOf(to))]),
    );
  return { open: spans(false), unsure: spans(true) };
}
