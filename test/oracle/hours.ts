import zoneAt from "@photostructure/tz-lookup";
import type { Closure } from "#src/domain/closure.ts";
import type { Point } from "#src/domain/geo.ts";

/** Spans of the day on these days: opening hours before they are written as text. */
export interface PlainHours {
  /** 0 is Monday. */
  days: readonly number[];
  /** Minutes of the day; `to` after 1440 is on the next day. */
  from: number;
  to: number;
}

const names = ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"];
const clock = (minutes: number): string =>
  [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, "0")).join(":");

/** Such hours as OSM writes them. */
export const hoursAsText = (rules: readonly PlainHours[]): string =>
  rules
    .map(({ days, from, to }) => {
      const listed = days.map((day) => names[day]).join();
      return `${listed} ${clock(from)}-${clock(to % 1440 === 0 ? 1440 : to % 1440)}`;
    })
    .join(", ");

/** Day of the week and minute of the day on a clock at a place, as the runtime itself writes them out. */
function clockAt(atMs: number, place: Point): { day: number; minute: number } {
  const text = new Date(atMs).toLocaleString("en-US", {
    ...{ timeZone: zoneAt(place.lat, place.lon), weekday: "short", hourCycle: "h23" },
    ...{ hour: "2-digit", minute: "2-digit" },
  });
  const [, day = "", hour, minute] = /^(\w\w)\w,? (\d\d):(\d\d)/.exec(text) ?? [];
  return { day: names.indexOf(day), minute: Number(hour) * 60 + Number(minute) };
}

/** Whether a place with these hours is open. */
export function isOpenPlainly(rules: readonly PlainHours[], atMs: number, place: Point): boolean {
  const { day, minute } = clockAt(atMs, place);
  const yesterday = (day + 6) % 7;
  return rules.some(
    ({ days, from, to }) =>
      (days.includes(day) && minute >= from && minute < to) ||
      (days.includes(yesterday) && minute + 1440 >= from && minute + 1440 < to),
  );
}

const allDay: PlainHours = { days: [0, 1, 2, 3, 4, 5, 6], from: 0, to: 1440 };
/** Texts of tests, and what they mean; null: nobody can say. */
export const knownHours: Readonly<Record<string, readonly PlainHours[] | null>> = {
  "": null,
  'rubbish "': null,
  "sunrise-sunset": null,
  "24/7": [allDay],
  off: [],
  "Mo-Fr 06:00-22:00": [{ days: [0, 1, 2, 3, 4], from: 360, to: 1320 }],
  "Sa,Su 22:00-05:00": [{ days: [5, 6], from: 1320, to: 1740 }],
};

/** True when a place with one of these texts is open, or when it is not, as `opened` wants it; else nobody can say. */
export function isAsWanted(opened: boolean, text: string, atMs: number, place: Point): boolean {
  const rules = knownHours[text] ?? null;
  return rules !== null && isOpenPlainly(rules, atMs, place) === opened;
}

/** A stored closure as it must be served. */
export const shownClosure = (closed: string): { closed?: Closure } =>
  closed === ""
    ? {}
    : { closed: { from: closed.split("/")[0] || null, until: closed.split("/")[1] || null } };

/** Whether a station with such a closure is shut at `now`. */
export const isShut = (closed: Closure | undefined, now: number): boolean =>
  closed !== undefined &&
  Date.parse(`${closed.from ?? "1970-01-01"}Z`) <= now &&
  now < Date.parse(`${closed.until ?? "2999-01-01"}Z`);
