import { LRUCache } from "lru-cache";
import { dayS } from "#src/domain/units.ts";
import type { Counts, LocalCount } from "#src/limits/meter-script.ts";

/** What all processes together had used of a minute, as Redis last said. */
export interface Seen {
  minute: number;
  mn: number;
}
const unseen: Seen = { minute: 0, mn: 0 };

/**
 * A limiter of this process alone, with the arithmetic of the shared one. Remembers at most `max` buckets; the one
 * longest unused is forgotten first.
 */
export function createLocalLimiter(max: number) {
  // Not `max`: that reserves room for all of them at once, 1 MB for each of a process's nine limiters.
  const buckets = new LRUCache<string, LocalCount & { seen: Seen }>({
    ...{ maxSize: max, sizeCalculation: () => 1 },
  });

  return {
    /** Grants up to `n` in the minute and UTC day of `nowS`. Says what was used then, this call included. */
    take(bucket: string, n: number, rpm: number, daily: number, nowS: number): Counts {
      const [minute, day] = [minuteOf(nowS), dayOf(nowS)];
      const old = buckets.peek(bucket);
      const mn = old?.minute === minute ? old.mn : 0;
      const dn = old?.day === day ? old.dn : 0;
      const granted = Math.max(0, Math.min(n, rpm - mn, daily - dn));
      const seen = old?.seen ?? unseen;
      buckets.set(bucket, { bucket, minute, mn: mn + granted, day, dn: dn + granted, seen });
      return { granted, mn: mn + granted, dn: dn + granted };
    },
    /** Continues from the counts of the shared limiter. */
    observe: (bucket: string, mn: number, dn: number, nowS: number) => {
      const seen = { minute: minuteOf(nowS), mn };
      buckets.set(bucket, { bucket, ...seen, day: dayOf(nowS), dn, seen });
    },
    /** What was last observed of the minute, without what was granted here since. */
    seen: (bucket: string): Seen => buckets.peek(bucket)?.seen ?? unseen,
  };
}

/** Minutes since the epoch. */
export const minuteOf = (nowS: number): number => Math.floor(nowS / 60);

/** UTC days since the epoch. */
export const dayOf = (nowS: number): number => Math.floor(nowS / dayS);
