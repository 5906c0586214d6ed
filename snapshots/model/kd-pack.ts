import type { Piece } from "#snapshots/model/block.ts";

/** Most stations of one page. Halving anything larger leaves pages of 64 to 128. */
export const pageMax = 128;

/**
 * Splits stations into groups of at most `pageMax`, halving along the wider side each time, so that a
 * group is compact and neighbouring groups stand next to each other. Reorders `sources`.
 */
export function packByPlace(sources: Piece[]): Piece[][] {
  const groups: Piece[][] = [];
  const split = (from: number, to: number): void => {
    if (to - from <= pageMax) {
      if (to > from) groups.push(sources.slice(from, to));
      return;
    }
    const middle = (from + to) >> 1;
    partition(sources, from, to - 1, middle, widerAxis(sources, from, to));
    split(from, middle);
    split(middle, to);
  };
  split(0, sources.length);
  return groups;
}

const along = (source: Piece, axis: number): number => {
  if ("json" in source) return axis === 0 ? source.lat : source.lon;
  return source.page.coordinates[source.slot * 2 + axis] as number;
};

function widerAxis(sources: readonly Piece[], from: number, to: number): 0 | 1 {
  const low = [Infinity, Infinity] as [number, number];
  const high = [-Infinity, -Infinity] as [number, number];
  for (let i = from; i < to; i++)
    for (const axis of [0, 1] as const) {
      const value = along(sources[i] as Piece, axis);
      if (value < low[axis]) low[axis] = value;
      if (value > high[axis]) high[axis] = value;
    }
  // A degree of longitude is shorter away from the equator.
  const scale = Math.cos((((low[0] + high[0]) / 2) * Math.PI) / 180);
  return (high[1] - low[1]) * scale > high[0] - low[0] ? 1 : 0;
}

/** Quickselect: puts the k-th smallest along `axis` at `k`, smaller ones before it, larger ones after. */
function partition(sources: Piece[], left: number, right: number, k: number, axis: number): void {
  while (right > left) {
    const pivot = along(sources[(left + right) >> 1] as Piece, axis);
    let i = left;
    let j = right;
    while (i <= j) {
      while (along(sources[i] as Piece, axis) < pivot) i++;
      while (along(sources[j] as Piece, axis) > pivot) j--;
      if (i <= j) {
        const swapped = sources[i] as Piece;
        sources[i++] = sources[j] as Piece;
        sources[j--] = swapped;
      }
    }
    if (k <= j) right = j;
    else if (k >= i) left = i;
    else return;
  }
}
