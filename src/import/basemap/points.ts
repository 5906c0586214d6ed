import { readRecords } from "#src/import/basemap/spill.ts";

/** Units in a degree: coordinates are whole numbers of 1e-7 degrees, as OpenStreetMap keeps them. */
export const unitsPerDegree = 1e7;

// No place on the Earth.
const missing = 2 ** 31 - 1;

/**
 * The coordinates of the nodes that something drawn needs, which is what memory depends on: 8 bytes for each, and 8 for
 * each time that a way names one of them.
 */
export interface Points {
  count: number;
  /** Notes a node's place, if it is one of these. Quickest in the order of ids. */
  put(id: number, lon: number, lat: number): void;
  /** The places of these nodes, lon and lat by turns; nodes that the extract does not have are left out. */
  of(ids: ArrayLike<number>): Int32Array;
}

/** @param total how many ids the records of these files hold together */
export function pointsOf(paths: readonly string[], total: number): Points {
  const all = new Float64Array(total);
  let filled = 0;
  for (const path of paths)
    for (const { numbers } of readRecords(path, Float64Array)) {
      all.set(numbers, filled);
      filled += numbers.length;
    }
  all.sort();
  // In place: `filter` would make a list of them first.
  let different = 0;
  for (let n = 0; n < all.length; n++)
    if (n === 0 || all[n] !== all[different - 1]) all[different++] = all[n]!;
  const ids = all.subarray(0, different);
  const lons = new Int32Array(ids.length).fill(missing);
  const lats = new Int32Array(ids.length);
  let next = 0;
  return {
    count: ids.length,
    put(id, lon, lat) {
      // Nodes come in the order of their ids, as a rule.
      if (next >= ids.length || ids[next]! > id) {
        if (next > 0 && ids[next - 1]! < id) return;
        next = placeOf(ids, id);
      } else if (ids[next]! < id) {
        next += 1;
        if (next >= ids.length || ids[next]! < id) next = placeOf(ids, id);
      }
      if (ids[next] !== id) return;
      lons[next] = lon;
      lats[next] = lat;
      next += 1;
    },
    of(wanted) {
      const found = new Int32Array(wanted.length * 2);
      let length = 0;
      for (let n = 0; n < wanted.length; n++) {
        const at = placeOf(ids, wanted[n]!);
        if (ids[at] !== wanted[n] || lons[at] === missing) continue;
        found[length++] = lons[at]!;
        found[length++] = lats[at]!;
      }
      return found.subarray(0, length);
    },
  };
}

/** Where `id` stands among the sorted ones, or would stand. */
function placeOf(ids: Float64Array, id: number): number {
  let [low, high] = [0, ids.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ids[middle]! < id) low = middle + 1;
    else high = middle;
  }
  return low;
}
