import { parseTime } from "#src/domain/time.ts";
import { dayMs, hourMs, minuteMs } from "#src/domain/units.ts";

/**
 * Reads local times of a time zone, which may also state an offset of their own. Gives ms, null for what is no time. In
 * the hour that autumn repeats it is the first of the two; in the hour that spring skips, an hour is added.
 */
export function createTimeReader(timezone: string): (text: string) => number | null {
  const format = new Intl.DateTimeFormat("en", { timeZone: timezone, timeZoneName: "shortOffset" });
  /** ms by which the zone is ahead of UTC at a moment. */
  const aheadMs = (ms: number): number => {
    const [, sign, hours, minutes = 0] = /GMT([+-])(\d+)(?::(\d+))?/.exec(format.format(ms)) ?? [];
    return (Number(hours ?? 0) * hourMs + Number(minutes) * minuteMs) * (sign === "-" ? -1 : 1);
  };
  return (text) => {
    const local = parseTime(text);
    if (local === null || hasOffset.test(text)) return local;
    const around = [aheadMs(local - dayMs), aheadMs(local + dayMs)].sort((a, b) => b - a);
    const ahead = around.find((one) => aheadMs(local - one) === one) ?? around.at(-1)!;
    return local - ahead;
  };
}

const hasOffset = /(?:Z|[+-]\d{2}:?(?:\d{2})?)$/i;
