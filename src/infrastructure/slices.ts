/** A list in slices of at most `size`, in its order: one transaction, statement or turn of the event loop each. */
export function* slices<T>(list: readonly T[], size: number): Generator<T[]> {
  for (let from = 0; from < list.length; from += size) yield list.slice(from, from + size);
}
