import type { Debt, Note } from "#src/limits/meter-script.ts";
import { dayOf, minuteOf } from "#src/limits/local-limiter.ts";

/** What is to be told to Redis with the next call. */
export interface Settlement {
  owed: Debt[];
  notes: Note[];
}

export interface MeterDebts {
  /** Remembers `n` requests that were granted without Redis, on top of the durable count of their day. */
  owe(bucket: string, n: number, nowS: number, floor: { day: number; count: number } | null): void;
  /** Remembers `n` for a field of a day's usage. */
  note(usage: string, day: number, field: string, n: number): void;
  /** Takes out what fits into one call. */
  settle(): Settlement;
  /** Puts back what a failed call did not deliver. */
  restore(settlement: Settlement): void;
  readonly size: number;
  /** Whether requests granted without Redis are among it. */
  readonly owes: boolean;
}

const perCall = 500;

/** Counts that wait for Redis, summed up. More than `max` of a kind are not kept: an outage must not fill memory. */
export function createMeterDebts(max: number): MeterDebts {
  const owed = new Map<string, Debt>();
  const notes = new Map<string, Note>();

  const addNote = (one: Note): void => {
    const key = `${one.usage} ${one.day} ${one.field}`;
    const known = notes.get(key);
    if (known !== undefined) known.n += one.n;
    else if (notes.size < max) notes.set(key, { ...one });
  };

  const addOwed = (one: Debt): void => {
    const known = owed.get(one.bucket);
    if (known === undefined) {
      if (owed.size < max) owed.set(one.bucket, { ...one });
      return;
    }
    const [newer, older] = one.minute < known.minute ? [known, one] : [one, known];
    owed.set(one.bucket, {
      ...newer,
      mn: newer.mn + (older.minute === newer.minute ? older.mn : 0),
      dn: newer.dn + (older.day === newer.day ? older.dn : 0),
      // The first one known: a later one may have these among it.
      floor: (older.day === newer.day ? older : newer).floor,
    });
  };

  return {
    owe: (bucket, n, nowS, floor) => {
      const day = dayOf(nowS);
      const base = floor?.day === day ? floor.count : 0;
      addOwed({ bucket, minute: minuteOf(nowS), mn: n, day, dn: n, floor: base });
    },
    note: (usage, day, field, n) => addNote({ usage, day, field, n }),
    settle: () => ({ owed: takeOut(owed), notes: takeOut(notes) }),
    restore: (settlement) => {
      settlement.owed.forEach(addOwed);
      settlement.notes.forEach(addNote);
    },
    get owes() {
      return owed.size > 0;
    },
    get size() {
      return owed.size + notes.size;
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
