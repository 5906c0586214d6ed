import { createRequire } from "node:module";
import type { opening_hours } from "opening_hours";
import type { Point } from "#src/domain/geo.ts";
import { minuteMs } from "#src/domain/units.ts";
import { dayMinutes, weekMinutes } from "#src/domain/wall-clock.ts";
import { grouped, remembered } from "#src/infrastructure/lists.ts";
import { isHoliday } from "#src/stations/public-holidays.ts";

/** Loaded at the first use: it takes 0.3 s and 40 MB, which most processes never need. */
const load = createRequire(import.meta.url);

/** Times at which a station is open, in minutes from the start of a week or of one day. */
export interface OpenTimes {
  /** The same every week; else of one day alone. */
  weekly: boolean;
  /** Pairs of from and to. */
  open: Uint16Array;
  /** The same, of times that nobody can tell: the text calls them unknown, or says "by appointment", or is in doubt there. */
  unsure: Uint16Array;
}

/** School holidays, of which the library has few, the sun, which differs by station, `PH +1 day` and `PH Mo-Fr`. */
const beyondUs = /\b(SH|sunrise|sunset|dawn|dusk)\b|\bPH\s*([+-]|mo|tu|we|th|fr|sa|su)/i;
const holidays = /\bPH\b(?=(?:[^"]*"[^"]*")*[^"]*$)/gi;

export const hasHolidays = (text: string): boolean => text.search(holidays) >= 0;

/**
 * The open times of a text in the manner of OSM: of the week, or, where weeks differ, of the day that begins at
 * `dayStart`, minutes on the station's own clock. Null when they are unknown: a text that cannot be read for certain, or
 * that asks for what is not known at `place`.
 */
export function readOpenTimes(text: string, place: Point, dayStart: number): OpenTimes | null {
  try {
    if (beyondUs.test(text) || hoursFault(text) !== null) return null;
    // Beside times that are closed the others are not said: `Su off`.
    const whole = onlyClosed.test(text) ? `unknown; ${text}` : text;
    const both = [...new Set([whole, asMeant(whole)])];
    const named = hasHolidays(whole);
    const texts = named ? both.flatMap((one) => withHolidays(one, place, dayStart)) : both;
    const hours = parse(texts[0]!);
    if (!named && hours.isWeekStable()) return timesOf(both, true, monday);
    // A text of years that are over says nothing of this one.
    const day = dateOf(dayStart, 0);
    if (!hours.getState(day) && hours.getNextChange(day) === undefined) return null;
    return timesOf(texts, false, dayStart);
  } catch {
    return null;
  }
}

/** A rule replaces those before it, which few mean who write `Su off; 06:00-22:00`: rules of few days last, equal ones added up. */
function asMeant(text: string): string {
  const rules = text.split(";").filter((rule) => rule.trim() !== "");
  const daysOf = (rule: string): string => rule.toLowerCase().replace(fromTimes, "").trim();
  const rankOf = ([days]: [string, string[]]): number => ranks.findIndex((one) => one.test(days));
  const groups = [...grouped(rules, daysOf)].sort((a, b) => rankOf(a) - rankOf(b));
  const meant = groups.map(([, some]) => some.join()).join(";");
  return meant === rules.join(";") || /"|\|\|/.test(text) ? text : meant;
}

const ranks = [/^(mo-su|daily)?$/, /^((mo|tu|we|th|fr|sa|su)[a-z]*\b[-, ]*)+$/, /^/];
const fromTimes = /:?\s*(\d+[:.]\d\d|\d+ ?[ap]m|\d+-\d+$|24\/7|24 h|open|off|closed|unknown).*/s;
const onlyClosed = /^(?:\s*[^;"\s][^;"]*\b(?:off|closed)\s*(?:"[^"]*"\s*)?(?:;\s*|$))+$/i;

/** Words of one meaning. Days of other languages are guessed: `L-V` is Saturday and Sunday. So is `1-5 pm`, from 1:00, `6am-6am`, never, and `8:3`. */
const hour = String.raw`\d{1,2}(?::\d\d)?\s*[ap]m`;
const plainWords = new RegExp(
  String.raw`^(?!.*(?<![:\d])(\d{1,2} ?([ap]m)?) ?[-\u2013] ?\1(?![:\d]))(?!.*\d[:.][1-9](?!\d))(?:[^\p{L}"_~?=]|"[^"]*"|(?<!\p{L})(?:mo(n(day)?)?|tu(es?(day)?)?|wed?(nesday)?|th(u(rs(day)?)?)?|fr(i(day)?)?|sat?(urday)?|sun?(day)?|days?|jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sep(t(ember)?)?|oct(ober)?|nov(ember)?|dec(ember)?|week|easter|[ps]h|(public )?holidays?|open|closed|off|unknown|sunrise|sunset|dawn|dusk|hours|hrs|h|daily|weekends?|and|to|from|always|nonstop)(?!\p{L})|(?<![\d:.])${hour}\s*(?:[-\u2013]|to)\s*${hour}(?!\p{L}))*$`,
  "iu",
);

/** What the library warns of where only one reading is possible, or `statesOf` looks at both (decisions 14.48). */
const harmless =
  `word_error_correction hour_min_separator omit_ko without_minutes nothing_useful no_colon_after year_past
  separator_for_readability additional_rule_which_evaluates_to_closed date_past date_range_past
  additional_rule_separator_not_used_after_time_wrapping_midnight`.split(/\s+/);

/** What most stations write, and nothing is doubtful in: to ask the library about a text takes a millisecond. */
const day = "(?:Mo|Tu|We|Th|Fr|Sa|Su)";
const days = `${day}(?:-${day})?`;
const times = String.raw`(?:0[1-9]|1\d):[0-5]\d-(?:2[0-3]:[0-5]\d|24:00)`;
const usual = new RegExp(`^(?:24/7|${days}(?:,${days})* ${times}(?:; ${days} (?:${times}|off))*)$`);

/** The reason why a text is no opening hours, or may mean something else, in English; null for one that is certain. */
export const hoursFault = remembered((text: string): string | null => {
  if (usual.test(text)) return null;
  try {
    const warnings = parse(text).getStructuredWarnings();
    const doubt = warnings.find(({ type }) => !harmless.includes(type));
    if (doubt !== undefined) return doubt.message.slice(0, 200);
    return plainWords.test(text) ? null : "Write it as OpenStreetMap does: Mo-Fr 08:00-20:00";
  } catch (error) {
    return String(error).slice(0, 200);
  }
});

/** The text if it is hours for certain, else "": others are not served (decisions 14.48). */
export const readableHours = (text: string): string => (hoursFault(text) === null ? text : "");

/** Monday of a week in which no zone of the world changes its clocks. */
const monday = Date.UTC(2024, 0, 1) / minuteMs;
/** For texts that name holidays or the sun and are only looked at. */
const anywhere = { lat: 48, lon: 11, address: { country_code: "de", state: "Bayern" } };

let last: [text: string, hours: opening_hours] | undefined;

/** `24/7; Su off` means what `open; Su off` means, and the library warns of it. A text is asked several things in turn. */
function parse(text: string): opening_hours {
  if (last?.[0] === text) return last[1];
  const Class = load("opening_hours") as typeof opening_hours;
  last = [text, new Class(text.replace(/^\s*24\/7(?=\s*;)/, "open"), anywhere)];
  return last[1];
}

/**
 * The text without holidays, for one day: they become the weekdays of those among this day and its neighbours, so that no
 * table has to know a day. Several texts where nobody knows whether a day is one.
 */
function withHolidays(text: string, place: Point, dayStart: number): string[] {
  let texts = [""];
  for (const n of [-1, 0, 1]) {
    const date = dateOf(dayStart, n);
    const is = isHoliday(place, date);
    const day = names[date.getDay()]!;
    texts = texts.flatMap((some) => [
      ...(is === true ? [] : [some]),
      ...(is === false ? [] : [some === "" ? day : `${some},${day}`]),
    ]);
  }
  const other = names[dateOf(dayStart, 3).getDay()]!;
  return texts.map((days) => text.replace(holidays, days || other));
}

const names = ["Su", "Mo", "Tu", "We", "Th", "Fr", "Sa"];

/** A day after `start`, minutes, as the library wants it: it reads the fields of a date in this process's zone. */
function dateOf(start: number, day: number): Date {
  const first = new Date(start * minuteMs);
  return new Date(first.getUTCFullYear(), first.getUTCMonth(), first.getUTCDate() + day);
}

const [closed, open, unsure] = [0, 1, 2];

/** The times from the day that starts at `start`, minutes; those that the texts do not agree about are unsure. */
function timesOf(texts: readonly string[], weekly: boolean, start: number): OpenTimes {
  const [first, ...others] = texts.map((text) =>
    statesOf(text, start, weekly ? weekMinutes : dayMinutes),
  );
  const states = first!.map((state, at) =>
    others.every((one) => one[at] === state) ? state : unsure,
  );
  const spans = (of: number): Uint16Array => {
    const ends: number[] = [];
    for (let at = 0; at <= states.length; at++)
      if ((states[at] === of) !== (ends.length % 2 === 1)) ends.push(at);
    return Uint16Array.from(ends);
  };
  return { weekly, open: spans(open), unsure: spans(unsure) };
}

/**
 * The state of each minute from `start`. Hours that a rule of the next day cuts off at midnight are unsure: in
 * `Fr 20:00-04:00; Sa 10:00-12:00` Friday's hardly end there, as they would not with `,`. So are those of a night whose
 * day a later rule has replaced: Monday's in `Mo-Su 06:00-02:00; Su 10:00-14:00`.
 */
function statesOf(text: string, start: number, minutes: number): Uint8Array {
  const states = plainStates(text, start - dayMinutes, dayMinutes + minutes);
  const read = remembered((one) => plainStates(one, start - dayMinutes, states.length));
  for (let midnight = dayMinutes; midnight < states.length; midnight += dayMinutes) {
    if (states[midnight - 1]! + states[midnight]! !== open + closed) continue;
    const other = read(states[midnight] === open ? withoutNights(text) : addedUp(text));
    const agrees = (state: number, at: number) => (state === open) === (other[at] === open);
    const end = states.findIndex((state, at) => at >= midnight && agrees(state, at));
    // Later than noon they are not those of a night.
    if (end > midnight && end < midnight + dayMinutes / 2) states.fill(unsure, midnight, end);
  }
  return states.subarray(dayMinutes);
}

/** The text in which hours end at midnight at the latest. */
const withoutNights = (text: string): string =>
  text.replace(/(\d\d:\d\d)-(\d\d:\d\d)/g, (_, from: string, to: string) =>
    to > from && to < "24:00" ? `${from}-${to}` : `${from}-24:00`,
  );

/** The text in which no rule takes anything away from those before it. */
const addedUp = (text: string): string =>
  text.replace(/;[^;]*\b(off|closed)\b[^;]*/gi, "").replaceAll(";", ",");

/** As the library reads it; but a time with an open end (`08:00-20:00+`) is unsure until the next one. */
function plainStates(text: string, start: number, minutes: number): Uint8Array {
  const states = new Uint8Array(minutes);
  const minuteOf = (date: Date): number => {
    const [year, month, day] = [date.getFullYear(), date.getMonth(), date.getDate()];
    return Date.UTC(year, month, day, date.getHours(), date.getMinutes()) / minuteMs - start;
  };
  const found = parse(text)
    .getOpenIntervals(dateOf(start, 0), dateOf(start, minutes / dayMinutes + 1))
    .map(([from, to, isUnsure]) => ({ from: minuteOf(from), to: minuteOf(to), isUnsure }));
  for (const [i, { from, to, isUnsure }] of found.entries()) {
    const next = found[i + 1]?.from ?? Infinity;
    const end = isUnsure && /\d\s*\+/.test(text) && next - to <= dayMinutes ? next : to;
    states.fill(isUnsure ? unsure : open, Math.max(0, from), end);
  }
  return states;
}
