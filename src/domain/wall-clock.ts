import { parseTime } from "#src/domain/time.ts";
import { minuteMs } from "#src/domain/units.ts";

const formats = new Map<string, Intl.DateTimeFormat>();

/** A formatter takes a hundred times as long to make as to use. There are some 400 zones. */
function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat("sv-SE", {
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
export const wallMinutes = (atMs: number, zone: string): number =>
  // The Swedish form is that of `parseTime`.
  parseTime(`${formatOf(zone).format(atMs)}:00`)! / minuteMs;

export const dayMinutes = 24 * 60;
export const weekMinutes = 7 * dayMinutes;

/** The minute of the week that starts on Monday, of `wallMinutes`. 1 January 1970 was a Thursday. */
export const minuteOfWeek = (wall: number): number =>
  (((wall + 3 * dayMinutes) % weekMinutes) + weekMinutes) % weekMinutes;
