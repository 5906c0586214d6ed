/** A list in slices of at most `size`, in order, each for one transaction, statement or turn of the event loop. */
export function* slices<T>(list: readonly T[], size: number): Generator<T[]> {
  for (let from = 0; from < list.length; from += size) yield list.slice(from, from + size);
}

/**
 * A page of at most `size` rows of a list of which one more was asked for; `next`: the id of its last one where more
 * follow, else null (decisions 7.52).
 */
export function cutToPage<T extends { id: number }>(
  found: readonly T[],
  size: number,
): { page: T[]; next: number | null } {
  const page = found.slice(0, size);
  return { page, next: found.length > size ? page.at(-1)!.id : null };
}

/** The values of each of these members, in the order of the list: bindings of a statement that unnests them. */
export const columnsOf = <T extends object>(
  list: readonly T[],
  ...members: readonly (keyof T)[]
): unknown[][] => members.map((member) => list.map((item) => item[member]));

/** The items by their keys, each group in the order of the list. (Node 20 has no `Map.groupBy`.) */
export function grouped<T, Key>(list: Iterable<T>, keyOf: (item: T) => Key): Map<Key, T[]> {
  const groups = new Map<Key, T[]>();
  for (const item of list) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

/** The same function of a text or a number, which keeps some thousands of its results: a country repeats few texts. */
export function remembered<T, Of = string>(work: (of: Of) => T): (of: Of) => T {
  const known = new Map<Of, T>();
  return (of) => {
    let result = known.get(of);
    if (result !== undefined) return result;
    result = work(of);
    if (known.size >= rememberedMax) known.clear();
    known.set(of, result);
    return result;
  };
}

/** The same function of an object, whose result is kept as long as the object is. */
export function perObject<Of extends object, T>(work: (of: Of) => T): (of: Of) => T {
  const known = new WeakMap<Of, T>();
  return (of) => {
    let result = known.get(of);
    if (result === undefined) known.set(of, (result = work(of)));
    return result;
  };
}

const rememberedMax = 10_000;
