import { hourMs } from "#src/domain/units.ts";

const paris = new Intl.DateTimeFormat("en-GB", {
  timeZone: "Europe/Paris",
  hourCycle: "h23",
  year: "numeric",
  month: "2-digit",
  day: "2-digit",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
});

/** What a clock in Paris shows at `ms`, as if it were UTC. */
function shownInParis(ms: number): number {
  const parts = Object.fromEntries(
    paris.formatToParts(ms).map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/**
 * The moment (ms) at which a clock in Paris shows `local` (ms, read as if it were UTC). Of the hour that comes twice
 * in October the first; in the one that is left out in March, the clock an hour later.
 */
export function fromParis(local: number): number {
  // Paris is one or two hours ahead of UTC.
  for (const ahead of [2, 1]) {
    const moment = local - ahead * hourMs;
    if (shownInParis(moment) === local - (local % 1000)) return moment;
  }
  return local - hourMs;
}
