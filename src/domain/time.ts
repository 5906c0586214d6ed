import { dayMs, minuteMs, hourMs } from "#src/domain/units.ts";

/**
 * `YYYY-MM-DD HH:MM:SS` in UTC, the served form of a time (docs/contract.md 2.2). Fractions are cut. Times beyond the
 * years 1 to 9999 become the nearest end of this range.
 */
export function formatTime(ms: number): string {
  const iso = new Date(Math.min(Math.max(ms, firstYearMs), lastYearMs)).toISOString();
  const day = iso.length - "T00:00:00.000Z".length;
  return `${iso.slice(0, day)} ${iso.slice(day + 1, day + 9)}`;
}

const pattern =
  /^(\d{4})-(\d{2})-(\d{2})[ Tt](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?:([Zz])|([+\- ])(\d{2})(?::?(\d{2}))?)?$/;

/**
 * Milliseconds since the epoch of a time in a form of decisions 3, or null when unreadable.
 * A `+` that a query string turned into a space is understood; a date alone is not a time. Seconds may be left out: Java
 * writes `2026-01-31T12:00Z` in the first second of a minute.
 */
export function parseTime(text: string): number | null {
  const match = pattern.exec(text);
  if (match === null) return null;
  const [, year, month, day, hour, minute, second, fraction, , sign, zoneHour, zoneMinute] = match;
  const parts = [year, month, day, hour, minute, second ?? 0].map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const back = new Date(0);
  // Not Date.UTC: that takes the first hundred years for those of 1900.
  back.setUTCFullYear(parts[0], parts[1] - 1, parts[2]);
  const ms = back.setUTCHours(parts[3], parts[4], parts[5]);
  const real =
    parts[0] >= 1 &&
    back.getUTCFullYear() === parts[0] &&
    back.getUTCMonth() === parts[1] - 1 &&
    back.getUTCDate() === parts[2] &&
    parts[3] <= 23 &&
    parts[4] <= 59 &&
    parts[5] <= 59;
  if (!real) return null;
  if (Number(zoneHour ?? 0) > 14 || Number(zoneMinute ?? 0) > 59) return null;
  const zoneMs =
    (Number(zoneHour ?? 0) * 60 + Number(zoneMinute ?? 0)) * minuteMs * (sign === "-" ? -1 : 1);
  const at = ms + Math.floor(Number(`0.${fraction ?? 0}`) * 1000) - zoneMs;
  return at < firstYearMs ? null : at;
}

/** The first and last time that can be formatted, ms. The database has no year 0. */
export const firstYearMs = Date.parse("0001-01-01T00:00:00Z");
export const lastYearMs = Date.parse("9999-12-31T23:59:59.999Z");

/** `stale_after_hours` of a status that lives `lifetimeMs`: an integer (docs/contract.md 2.3), never less than its life. */
export const staleAfterHours = (lifetimeMs: number): number => Math.ceil(lifetimeMs / hourMs);

/** Midnight in UTC before or at `ms`. */
export const startOfDay = (ms: number): number => Math.floor(ms / dayMs) * dayMs;

/** `YYYY-MM-DD` in UTC. */
export const formatDay = (ms: number): string => formatTime(ms).slice(0, "YYYY-MM-DD".length);
