import { LRUCache } from "lru-cache";
import { dayS } from "#src/domain/units.ts";
import type { Counts, LocalCount, Note, UnsentCount } from "#src/limits/meter-script.ts";

/** Use of a minute by all processes together, by Redis's last answer. */
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
  // `max` would reserve spare for all buckets at once, 1 MB for each of a process's nine limiters.
  const buckets = new LRUCache<string, LocalCount & { seen: Seen }>({
    ...{ maxSize: max, sizeCalculation: () => 1 },
  });

  return {
    /** Grants up to `n` in the minute and UTC day of `nowS`. Gives the use with this call. */
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
    /** The last observed use of the minute, without later grants of this process. */
    seen: (bucket: string): Seen => buckets.peek(bucket)?.seen ?? unseen,
  };
}

/** Minutes since the epoch. */
export const minuteOf = (nowS: number): number => Math.floor(nowS / 60);

/** UTC days since the epoch. */
export const dayOf = (nowS: number): number => Math.floor(nowS / dayS);

/** The verdict of the meter on one request (docs/contract.md 8). */
export interface QuotaDecision {
  granted: boolean;
  /** The limit that refused it. */
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
  /** Use in the minute and in the day, with this request. */
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

/** Most counts of each kind in one call. */
const perCall = 500;

/** Free places for waiting counts of each kind, so that an outage cannot fill memory. */
export interface SpareCounts {
  unsent: number;
  notes: number;
}

/** Sums of counts that wait for Redis, as many as `spare` has places. Lanes share one `spare`. */
export function createUnsentCounts(spare: SpareCounts) {
  const unsent = new Map<string, UnsentCount>();
  const notes = new Map<string, Note>();

  const addNote = (note: Note): void => {
    const key = `${note.usage} ${note.day} ${note.field}`;
    const before = notes.get(key);
    if (before !== undefined) before.n += note.n;
    else if (spare.notes > 0) {
      spare.notes -= 1;
      notes.set(key, { ...note });
    }
  };

  const addCount = (count: UnsentCount): void => {
    const before = unsent.get(count.bucket);
    if (before === undefined) {
      if (spare.unsent <= 0) return;
      spare.unsent -= 1;
      unsent.set(count.bucket, { ...count });
      return;
    }
    const [newer, older] = count.minute < before.minute ? [before, count] : [count, before];
    unsent.set(count.bucket, {
      ...newer,
      mn: newer.mn + (older.minute === newer.minute ? older.mn : 0),
      dn: newer.dn + (older.day === newer.day ? older.dn : 0),
      // Keeps the older floors, because a later floor may include these requests.
      floor: (older.day === newer.day ? older : newer).floor,
      floorMn: (older.minute === newer.minute ? older : newer).floorMn,
    });
  };

  return {
    /**
     * Adds `n` requests that were granted without Redis, to the durable count of their day (`durable`) and to Redis's
     * last count of their minute (`seen`).
     */
    addGranted(
      bucket: string,
      n: number,
      nowS: number,
      durable: { day: number; count: number } | null,
      seen: Seen,
    ): void {
      const [minute, day] = [minuteOf(nowS), dayOf(nowS)];
      const floor = durable?.day === day ? durable.count : 0;
      const floorMn = seen.minute === minute ? seen.mn : 0;
      addCount({ bucket, minute, mn: n, day, dn: n, floor, floorMn });
    },
    /** Adds to a field of a day's usage. */
    note: (usage: string, day: number, field: string, n = 1): void =>
      addNote({ usage, day, field, n }),
    /** Takes out the counts for one call. */
    takeBatch() {
      const batch = { unsent: takeOut(unsent), notes: takeOut(notes) };
      spare.unsent += batch.unsent.length;
      spare.notes += batch.notes.length;
      return batch;
    },
    /** Puts back the counts of a failed call. */
    restore(batch: { unsent: readonly UnsentCount[]; notes: readonly Note[] }): void {
      batch.unsent.forEach(addCount);
      batch.notes.forEach(addNote);
    },
    /** True when requests that were granted without Redis are waiting. */
    hasGranted: (): boolean => unsent.size > 0,
    size: (): number => unsent.size + notes.size,
  };
}

function takeOut<T>(from: Map<string, T>): T[] {
  const taken = [...from].slice(0, perCall);
  for (const [key] of taken) from.delete(key);
  return taken.map(([, value]) => value);
}
