import { minuteMs } from "#src/domain/units.ts";

const formats = new Map<string, Intl.DateTimeFormat>();

/** A formatter takes a hundred times as long to make as to use. There are some 400 zones. */
function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat("en-GB", {
    ...{ timeZone: zone, hourCycle: "h23", year: "numeric", month: "2-digit", day: "2-digit" },
    ...{ hour: "2-digit", minute: "2-digit" },
  });
  formats.set(zone, made);
  return made;
}

/**
 * What a clock in a time zone of the IANA list shows at `atMs`, in whole minutes from the first minute of 1970 on that
 * clock. In autumn an hour comes twice, in spring one is left out.
 */
export function wallMinutes(atMs: number, zone: string): number {
  const parts = formatOf(zone).formatToParts(atMs);
  const read = (type: string): number => Number(parts.find((part) => part.type === type)?.value);
  const [year, month, day] = [read("year"), read("month"), read("day")];
  return Date.UTC(year, month - 1, day, read("hour"), read("minute")) / minuteMs;
}

export const dayMinutes = 24 * 60;
export const weekMinutes = 7 * dayMinutes;

/** The minute of the week that starts on Monday, of `wallMinutes`. 1 January 1970 was a Thursday. */
export const minuteOfWeek = (wall: number): number =>
  (((wall + 3 * dayMinutes) % weekMinutes) + weekMinutes) % weekMinutes;
