import { dayS } from "#src/domain/units.ts";
import { dayOf, minuteOf } from "#src/limits/local-limiter.ts";

/** The verdict of the meter on one request (docs/contract.md 8). */
export interface QuotaDecision {
  granted: boolean;
  /** Which limit refused it. */
  hit: "minute" | "day" | null;
  limit: number;
  remaining: number;
  /** Unix time at which the minute ends. */
  resetS: number;
  dailyLimit: number;
  dailyRemaining: number;
  /** Seconds until the limit that was hit is reset; 0 when granted. */
  retryAfterS: number;
  /** The UTC day it was counted in, in days since the epoch. */
  day: number;
}

interface Facts {
  granted: boolean;
  rpm: number;
  daily: number;
  /** Used after this request, in the minute and in the day. */
  mn: number;
  dn: number;
  nowS: number;
}

/** Puts a verdict together. A request that both limits refuse is refused by the minute. */
export function quotaDecision({ granted, rpm, daily, mn, dn, nowS }: Facts): QuotaDecision {
  const resetS = (minuteOf(nowS) + 1) * 60;
  const dayEndS = (dayOf(nowS) + 1) * dayS;
  const hit = granted ? null : mn >= rpm ? "minute" : "day";
  const endS = hit === "minute" ? resetS : dayEndS;
  return {
    granted,
    hit,
    limit: rpm,
    remaining: Math.max(0, rpm - mn),
    resetS,
    dailyLimit: daily,
    dailyRemaining: Math.max(0, daily - dn),
    retryAfterS: hit === null ? 0 : Math.max(1, Math.ceil(endS - nowS)),
    day: dayOf(nowS),
  };
}
