import type { UnsentCount, Note } from "#src/limits/meter-script.ts";
import { dayOf, minuteOf, type Seen } from "#src/limits/local-limiter.ts";

const perCall = 500;

/** How many more counts of each kind may wait, so that an outage cannot fill memory. */
export interface Room {
  unsent: number;
  notes: number;
}

/** Counts that wait for Redis, summed up: as many as `room` has place for, which several may share. */
export function createUnsentCounts(room: Room) {
  const unsent = new Map<string, UnsentCount>();
  const notes = new Map<string, Note>();

  const addNote = (note: Note): void => {
    const key = `${note.usage} ${note.day} ${note.field}`;
    const before = notes.get(key);
    if (before !== undefined) before.n += note.n;
    else if (room.notes > 0) {
      room.notes -= 1;
      notes.set(key, { ...note });
    }
  };

  const addCount = (count: UnsentCount): void => {
    const before = unsent.get(count.bucket);
    if (before === undefined) {
      if (room.unsent <= 0) return;
      room.unsent -= 1;
      unsent.set(count.bucket, { ...count });
      return;
    }
    const [newer, older] = count.minute < before.minute ? [before, count] : [count, before];
    unsent.set(count.bucket, {
      ...newer,
      mn: newer.mn + (older.minute === newer.minute ? older.mn : 0),
      dn: newer.dn + (older.day === newer.day ? older.dn : 0),
      // The first ones: a later floor may include these requests.
      floor: (older.day === newer.day ? older : newer).floor,
      floorMn: (older.minute === newer.minute ? older : newer).floorMn,
    });
  };

  return {
    /**
     * Adds `n` requests that were granted without Redis, on top of the durable count of their day (`durable`) and of
     * what it last said of their minute.
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
    /** Takes out what fits into one call. */
    takeBatch() {
      const batch = { unsent: takeOut(unsent), notes: takeOut(notes) };
      room.unsent += batch.unsent.length;
      room.notes += batch.notes.length;
      return batch;
    },
    /** Puts back what a failed call did not deliver. */
    restore(batch: { unsent: readonly UnsentCount[]; notes: readonly Note[] }): void {
      batch.unsent.forEach(addCount);
      batch.notes.forEach(addNote);
    },
    /** True when some of it are requests that were granted without Redis. */
    hasGranted: (): boolean => unsent.size > 0,
    size: (): number => unsent.size + notes.size,
  };
}

function takeOut<T>(from: Map<string, T>): T[] {
  const taken = [...from].slice(0, perCall);
  for (const [key] of taken) from.delete(key);
  return taken.map(([, value]) => value);
}
