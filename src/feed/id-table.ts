/** A number for each station id, given out at first sight and never taken back. Ids are ASCII, at most 64 long. */
export interface IdTable {
  /** The id's number, or -1. */
  find(id: string): number;
  /** The id's number; a new one at first sight. */
  numberOf(id: string): number;
  id(number: number): string;
  /** Negative when the first's id comes before the second's. */
  compare(a: number, b: number): number;
  /** How many numbers were given out. */
  size(): number;
}

/**
 * Open addressing over the ids' bytes in one buffer: a third of the memory of a Map of strings, and nothing for
 * the garbage collector to look at.
 */
export function createIdTable(): IdTable {
  let text = Buffer.alloc(1 << 14);
  /** Where each id ends in `text`. */
  let ends = new Uint32Array(1 << 9);
  /** Number plus one at the place that its hash leads to; 0 is free. */
  let places = new Uint32Array(1 << 10);
  let size = 0;

  const startOf = (number: number): number => (number === 0 ? 0 : (ends[number - 1] as number));

  const isAt = (number: number, id: string): boolean => {
    const start = startOf(number);
    if ((ends[number] as number) - start !== id.length) return false;
    for (let i = 0; i < id.length; i++) if (text[start + i] !== id.charCodeAt(i)) return false;
    return true;
  };

  /** Where the id is, or the free place where it belongs. */
  const placeOf = (id: string): number => {
    const mask = places.length - 1;
    let place = hashOf(id) & mask;
    for (let found = places[place] as number; found !== 0; found = places[place] as number) {
      if (isAt(found - 1, id)) return place;
      place = (place + 1) & mask;
    }
    return place;
  };

  const read = (number: number): string => text.toString("latin1", startOf(number), ends[number]);

  const grow = (length: number): void => {
    const end = startOf(size) + length;
    if (end > text.length) text = Buffer.concat([text], roomFor(end));
    if (size === ends.length) ends = larger(ends, roomFor(size));
    if (size * 3 < places.length * 2) return;
    places = new Uint32Array(places.length * 2);
    for (let number = 0; number < size; number++) places[placeOf(read(number))] = number + 1;
  };

  return {
    find: (id) => (places[placeOf(id)] as number) - 1,
    numberOf(id) {
      const known = (places[placeOf(id)] as number) - 1;
      if (known !== -1) return known;
      grow(id.length);
      const start = startOf(size);
      for (let i = 0; i < id.length; i++) text[start + i] = id.charCodeAt(i);
      places[placeOf(id)] = size + 1;
      ends[size] = start + id.length;
      return size++;
    },
    id: read,
    compare(a, b) {
      const [startA, startB] = [startOf(a), startOf(b)];
      const [lengthA, lengthB] = [(ends[a] as number) - startA, (ends[b] as number) - startB];
      for (let i = 0; i < lengthA && i < lengthB; i++) {
        const difference = (text[startA + i] as number) - (text[startB + i] as number);
        if (difference !== 0) return difference;
      }
      return lengthA - lengthB;
    },
    size: () => size,
  };
}

/** FNV-1a, with its high bits folded in: the table looks at the low ones. */
function hashOf(id: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
  return hash ^ (hash >>> 15);
}

/** How long a column is made that `needed` entries do not fit into: memory for a quarter more waits for them. */
export const roomFor = (needed: number): number => Math.ceil(needed * 1.25);

/** A longer copy of a column. */
export function larger<T extends Uint8Array | Uint32Array | Int32Array | Float64Array>(
  column: T,
  length: number,
): T {
  const copy = new (column.constructor as new (length: number) => T)(length);
  copy.set(column);
  return copy;
}
