import { LRUCache } from "lru-cache";
import { hourMs, pauseMs } from "#src/domain/units.ts";

export interface DelayRule {
  /** Attempts in a row without a delay. */
  free: number;
  longestMs: number;
}

const firstDelayMs = 1000;
/** Longer than every delay, so that attempts are not forgotten during one. */
const forgetMs = hourMs;
const keysMax = 20_000;

/** Delay after a number of failures, ms: 1 s after the free ones, then doubled. */
export const delayMs = (failures: number, { free, longestMs }: DelayRule): number =>
  failures < free ? 0 : pauseMs(failures - free, firstDelayMs, longestMs);

/**
 * Failed attempts by `key`, with a growing delay. They are in the memory of a process, for at most 20,000 keys; the
 * least recently used key is forgotten first. Times in ms.
 */
export function createAttempts(rule: DelayRule) {
  // `max` would reserve room for all keys at once.
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
    /** Time that an attempt has to wait; 0 when it may come now. */
    waitMs(key: string, now: number): number {
      const { count, lastAt } = counted(key, now);
      return Math.max(0, lastAt + delayMs(count, rule) - now);
    },
    /** Counts an attempt before its result is known, so that simultaneous attempts all count. */
    count: (key: string, now: number): void =>
      void failures.set(key, { count: counted(key, now).count + 1, lastAt: now }),
    /** Forgets the attempts after a success. */
    forget: (key: string): void => void failures.delete(key),
  };
}
