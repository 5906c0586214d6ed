export type IdTable = ReturnType<typeof createIdTable>;

/** A number for each station id, assigned at its first use and never changed. */
export function createIdTable() {
  const ids: string[] = [];
  const numbers = new Map<string, number>();
  const id = (number: number): string => ids[number] as string;
  return {
    /** The id's number, or -1. */
    find: (sought: string): number => numbers.get(sought) ?? -1,
    /** The id's number; a new one for a new id. */
    numberOf(sought: string): number {
      const number = numbers.get(sought) ?? ids.length;
      if (number === ids.length) {
        numbers.set(sought, number);
        ids.push(sought);
      }
      return number;
    },
    id,
    /** Negative when the first's id comes before the second's. */
    compare: (a: number, b: number): number => (id(a) < id(b) ? -1 : id(a) > id(b) ? 1 : 0),
    /** The count of numbers. */
    size: (): number => ids.length,
  };
}

/** The new length of a column that must hold `needed` entries: a quarter of its memory is reserve. */
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
