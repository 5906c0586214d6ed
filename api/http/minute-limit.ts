import { refused } from "#api/http/errors.ts";
import type { Clock } from "#src/infrastructure/clock.ts";
import { createLocalLimiter } from "#src/limits/limiter.ts";

const bucketsMax = 50_000;

/**
 * Counts something that a network or a partner does, or `share` of it; throws a refusal (429) when it has been done
 * `perMinute` times in the minute. Counts are in the memory of each process: a stranger must not fill Redis. `what`: `sign-ins`.
 */
export function minuteLimit(
  { clock }: { clock: Clock },
  what: string,
): (bucket: string, share: number, perMinute: number) => void {
  const counts = createLocalLimiter(bucketsMax);
  return (bucket, share, perMinute) => {
    const nowS = clock() / 1000;
    if (counts.take(bucket, share, perMinute, Infinity, nowS).granted >= share) return;
    const retryAfterS = 60 - (Math.floor(nowS) % 60);
    const hit = { retryAfterS, limit: perMinute, window: "60s" };
    throw refused("rate-limit-exceeded", `Too many ${what}. Try again in ${retryAfterS} s.`, hit);
  };
}
