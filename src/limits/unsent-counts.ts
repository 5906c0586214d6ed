import type { UnsentCount, Note } from "#src/limits/meter-script.ts";
import { dayOf, minuteOf } from "#src/limits/local-limiter.ts";

/** What the next call sends to Redis. */
export interface UnsentBatch {
  unsent: UnsentCount[];
  notes: Note[];
}

export interface UnsentCounts {
  /** Adds `n` requests that were granted without Redis, on top of the durable count of their day. */
  addGranted(
    bucket: string,
    n: number,
    nowS: number,
    floor: { day: number; count: number } | null,
  ): void;
  /** Adds `n` to a field of a day's usage. */
  note(usage: string, day: number, field: string, n: number): void;
  /** Takes out what fits into one call. */
  takeBatch(): UnsentBatch;
  /** Puts back what a failed call did not deliver. */
  restore(batch: UnsentBatch): void;
  readonly size: number;
  /** True when some of it are requests that were granted without Redis. */
  readonly hasGranted: boolean;
}

const perCall = 500;

/** Counts that wait for Redis, summed up. At most `max` of each kind are kept, so that an outage cannot fill memory. */
export function createUnsentCounts(max: number): UnsentCounts {
  const unsent = new Map<string, UnsentCount>();
  const notes = new Map<string, Note>();

  const addNote = (note: Note): void => {
    const key = `${note.usage} ${note.day} ${note.field}`;
    const before = notes.get(key);
    if (before !== undefined) before.n += note.n;
    else if (notes.size < max) notes.set(key, { ...note });
  };

  const addCount = (count: UnsentCount): void => {
    const before = unsent.get(count.bucket);
    if (before === undefined) {
      if (unsent.size < max) unsent.set(count.bucket, { ...count });
      return;
    }
    const [newer, older] = count.minute < before.minute ? [before, count] : [count, before];
    unsent.set(count.bucket, {
      ...newer,
      mn: newer.mn + (older.minute === newer.minute ? older.mn : 0),
      dn: newer.dn + (older.day === newer.day ? older.dn : 0),
      // The first one: a later floor may include these requests.
      floor: (older.day === newer.day ? older : newer).floor,
    });
  };

  return {
    addGranted: (bucket, n, nowS, floor) => {
      const day = dayOf(nowS);
      const base = floor?.day === day ? floor.count : 0;
      addCount({ bucket, minute: minuteOf(nowS), mn: n, day, dn: n, floor: base });
    },
    note: (usage, day, field, n) => addNote({ usage, day, field, n }),
    takeBatch: () => ({ unsent: takeOut(unsent), notes: takeOut(notes) }),
    restore: (batch) => {
      batch.unsent.forEach(addCount);
      batch.notes.forEach(addNote);
    },
    get hasGranted() {
      return unsent.size > 0;
    },
    get size() {
      return unsent.size + notes.size;
    },
  };
}

function takeOut<T>(from: Map<string, T>): T[] {
  const taken: T[] = [];
  for (const [key, value] of from) {
    if (taken.length >= perCall) break;
    taken.push(value);
    from.delete(key);
  }
  return taken;
}
