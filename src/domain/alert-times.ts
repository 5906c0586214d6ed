import { hourMs, minuteMs } from "#src/domain/units.ts";

/** Nobody is woken between these hours of the driver's own clock (decisions 15.27). */
export const nightFrom = 23;
export const nightTo = 7;

/** What a driver's clock shows. */
export interface LocalTime {
  /** `2026-01-31` */
  day: string;
  hour: number;
  minute: number;
}

/** What a device was told on its last day. */
export interface Told {
  day: string | null;
  count: number;
}

/**
 * When the device may be told next, ms from `now` on: 0 for now. At night that is the morning, if its clock is known; and
 * with `perDay` notifications of this day behind it, the next morning.
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
