import { hourMs, minuteMs } from "#src/domain/units.ts";

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
