import type { MinuteFigures } from "#src/contract/dashboard.ts";
import type { Redis } from "#src/infrastructure/redis.ts";
import { meterKey, minutesKey } from "#src/limits/limiter.ts";

/**
 * Requests per minute of a partner's secret keys over the UTC day `today` (days since the epoch) and the `days - 1`
 * before it, and the number that a limit refused. Only from Redis, so without data that a wiped Redis has lost. Numbers
 * from 100 on are rounded up to two digits. Null when there was no request. Rejects while Redis is away.
 */
export async function minuteFigures(
  redis: Redis,
  prefix: string,
  partnerId: number,
  today: number,
  days: number,
): Promise<MinuteFigures | null> {
  const names = Array.from(
    { length: days },
    (_, back) => `${minutesKey(prefix, `p${partnerId}`)}:${today - back}`,
  );
  const [last, ...hashes] = await Promise.all([
    // The current minute, which is written to the hash only when the next one begins.
    redis.hmget(meterKey(prefix, `p${partnerId}`), "m", "mn"),
    ...names.map((name) => redis.hgetall(name)),
  ]);
  /** Number of minutes, by their number of requests. */
  const counts = new Map<number, number>();
  const add = (requests: number, minutes: number): void => {
    counts.set(requests, (counts.get(requests) ?? 0) + minutes);
  };
  const [minute, requests] = [Number(last[0] ?? 0), Number(last[1] ?? 0)];
  if (requests > 0 && Math.floor(minute / 1440) > today - days) add(requests, 1);
  let refused = 0;
  for (const { refused: ofDay = "0", ...day } of hashes) {
    refused += Number(ofDay);
    for (const [field, minutes] of Object.entries(day)) add(Number(field), Number(minutes));
  }
  const sorted = [...counts].sort(([a], [b]) => a - b);
  const busiest = sorted.at(-1);
  if (busiest === undefined) return null;
  const total = sorted.reduce((sum, [, n]) => sum + n, 0);
  let passed = 0;
  const found = sorted.find(([, n]) => (passed += n) >= 0.95 * total);
  return { p95: (found ?? busiest)[0], peak: busiest[0], minutes: total, refused };
}
