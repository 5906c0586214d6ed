import { parseTime } from "#src/domain/time.ts";
import { dayMs } from "#src/domain/units.ts";
import { zoneAheadMs } from "#src/domain/wall-clock.ts";

/** What a date without a time stands for: the beginning or the end of its day. */
type DayAs = "start" | "end";
type TimeReader = (text: string, dayAs?: DayAs) => number | null;

/**
 * Reads the times of a source, in the usual forms: those of `parseTime`, days before months with dots between them
 * (28.11.2026 17:20), seconds and ms since 1970. Gives ms, null for what is no time; a date alone is one only with
 * `dayAs`. What states no offset is local: in the hour that autumn repeats it is the first of the two; in the hour that
 * spring skips, an hour is added.
 */
export function createTimeReader(timezone: string): TimeReader {
  const aheadMs = (ms: number): number => zoneAheadMs(ms, timezone);
  return (written, dayAs) => {
    if (/^\d{10}(\d{3})?$/.test(written)) return Number(written.padEnd(13, "0"));
    const text = plainTime(written);
    const isDay = /^\d{4}-\d\d-\d\d$/.test(text);
    const read = parseTime(isDay && dayAs !== undefined ? `${text} 00:00` : text);
    if (read === null || (!isDay && hasOffset.test(text))) return read;
    const local = isDay && dayAs === "end" ? read + dayMs : read;
    const around = [aheadMs(local - dayMs), aheadMs(local + dayMs)].sort((a, b) => b - a);
    const ahead = around.find((one) => aheadMs(local - one) === one) ?? around.at(-1)!;
    return local - ahead;
  };
}

const hasOffset = /(?:Z|[+-]\d{2}:?(?:\d{2})?)$/i;

/** The form that `parseTime` reads: the year first, two digits each, the zone without a blank. */
const plainTime = (text: string): string =>
  text
    .trim()
    .replace(/^(\d{1,2})\.(\d{1,2})\.(\d{4})/, "$3-$2-$1")
    .replace(/^(\d{4})[./](\d{1,2})[./](\d{1,2})/, "$1-$2-$3")
    .replace(/(?<=[-, ])\d(?=[-:, T]|$)/g, "0$&")
    .replace(/^(\d{4}-\d\d-\d\d),?\s+/, "$1 ")
    .replace(/\s*(?:UTC|GMT)$/i, "Z")
    .replace(/\s+(?=[+-]\d|Z$)/i, "");
