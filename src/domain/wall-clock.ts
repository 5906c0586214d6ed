import { parseTime } from "#src/domain/time.ts";
import { hourMs, minuteMs } from "#src/domain/units.ts";

const formats = new Map<string, Intl.DateTimeFormat | null>();

/** A formatter takes a hundred times as long to make as to use. There are some 400 zones. */
function formatOf(zone: string): Intl.DateTimeFormat | null {
  let format = formats.get(zone);
  if (format !== undefined) return format;
  try {
    format = new Intl.DateTimeFormat("sv-SE", {
      ...{ timeZone: zone, hourCycle: "h23", year: "numeric", month: "2-digit", day: "2-digit" },
      ...{ hour: "2-digit", minute: "2-digit" },
    });
  } catch {
    format = null;
  }
  formats.set(zone, format);
  return format;
}

/**
 * What a clock in a time zone of the IANA list shows at `atMs`, in whole minutes from the first minute of 1970 on that
 * clock. In autumn an hour comes twice, in spring one is left out. Null for a zone that this runtime does not know, as an
 * older one does not know a newer zone.
 */
export function wallMinutes(atMs: number, zone: string): number | null {
  const format = formatOf(zone);
  // The Swedish form is that of `parseTime`.
  return format && parseTime(`${format.format(atMs)}:00`)! / minuteMs;
}

/** By how much the clock of a zone is ahead of UTC at `atMs`, ms; 0 for a zone that this runtime does not know. */
export function zoneAheadMs(atMs: number, zone: string): number {
  const wall = wallMinutes(atMs, zone);
  return wall === null ? 0 : (wall - Math.floor(atMs / minuteMs)) * minuteMs;
}

export const dayMinutes = 24 * 60;
export const weekMinutes = 7 * dayMinutes;

/** The minute of the week that starts on Monday, of `wallMinutes`. 1 January 1970 was a Thursday. */
export const minuteOfWeek = (wall: number): number =>
  (((wall + 3 * dayMinutes) % weekMinutes) + weekMinutes) % weekMinutes;

/** Nobody is woken between these hours of the driver's own clock (decisions 15.27). */
export const nightFrom = 23;
export const nightTo = 7;

/** Date and time on a driver's clock. */
export interface LocalTime {
  /** `2026-01-31` */
  day: string;
  hour: number;
  minute: number;
}

/** The number of notifications on the last day on which the device got any. */
export interface Told {
  day: string | null;
  count: number;
}

/**
 * Time until the device may be told again, ms; 0 for now. It lasts until the morning at night, if the device's clock is
 * known, and until the next morning after `perDay` notifications in a day.
 */
export function pauseUntilTold(
  { day, hour, minute }: LocalTime,
  isClockKnown: boolean,
  told: Told,
  perDay: number,
): number {
  const isNight = isClockKnown && (hour >= nightFrom || hour < nightTo);
  const isSpent = told.day === day && told.count >= perDay;
  if (!isNight && !isSpent) return 0;
  const hoursLeft = hour < nightTo && !isSpent ? nightTo - hour : 24 + nightTo - hour;
  return hoursLeft * hourMs - minute * minuteMs;
}
