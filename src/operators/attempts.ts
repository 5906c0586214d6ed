import { LRUCache } from "lru-cache";
import { hourMs } from "#src/domain/units.ts";

export interface DelayRule {
  /** Attempts in a row without a delay. */
  free: number;
  longestMs: number;
}

const firstDelayMs = 1000;
/** Longer than every delay: whoever waits for one is not forgotten meanwhile. */
const forgetMs = hourMs;
const keysMax = 20_000;

/** How long after the last of so many failures the next attempt may come, ms: 1 s after the free ones, then doubled. */
export const delayMs = (failures: number, { free, longestMs }: DelayRule): number =>
  failures < free ? 0 : Math.min(firstDelayMs * 2 ** (failures - free), longestMs);

/**
 * Attempts that have not succeeded, by whatever `key` says, with a delay that grows. In the memory of a process, of
 * 20,000 keys at most; what is longest unused is forgotten first. Times in ms.
 */
export function createAttempts(rule: DelayRule) {
  // Not `max`, which reserves room for all of them at once.
  const failures = new LRUCache<string, { count: number; lastAt: number }>({
    maxSize: keysMax,
    sizeCalculation: () => 1,
  });
  const counted = (key: string, now: number): { count: number; lastAt: number } => {
    const found = failures.get(key);
    return found === undefined || now - found.lastAt >= forgetMs
      ? { count: 0, lastAt: now }
      : found;
  };
  return {
    /** How long an attempt has to wait; 0 when it may come now. */
    waitMs(key: string, now: number): number {
      const { count, lastAt } = counted(key, now);
      return Math.max(0, lastAt + delayMs(count, rule) - now);
    },
    /** Counts an attempt before it is known whether it succeeds, so that many at once are many. */
    count: (key: string, now: number): void =>
      void failures.set(key, { count: counted(key, now).count + 1, lastAt: now }),
    /** It has succeeded. */
    forget: (key: string): void => void failures.delete(key),
  };
}
