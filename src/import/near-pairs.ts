import { distanceM, type Point } from "#src/domain/geo.ts";
import { wrongFile } from "#src/import/read-text.ts";

interface Near<P> {
  a: P;
  b: P;
  metres: number;
}

/** Places of a column where they lie evenly: more columns cost more than they save. */
const usualInColumn = 16;
/** Degrees of latitude by which places are put in order: less than any distance that is asked for. */
const step = 1e-6;
/** The latitude and the number of a place make one exact number, by which numbers are sorted; no file has more. */
const numbers = 2 ** 25;

/**
 * Pairs at most `withinM` apart that `of` takes; the order of `places` makes no difference. Throws a wrong-file fault where
 * more than `most` are near one: their position is that of something else, and all their pairs would take minutes.
 */
export function nearPairs<P extends Point & { id: string }>(
  places: readonly P[],
  withinM: number,
  of: (a: P, b: P) => boolean = () => true,
  most = Infinity,
): Near<P>[] {
  const count = places.length;
  const order = new Float64Array(count);
  for (const [n, { lat }] of places.entries())
    order[n] = Math.floor((lat + 90) / step) * numbers + n;
  order.sort();
  const window = withinM / 111_000 + step;
  const acrossAt = (lat: number): number =>
    window / Math.max(0.01, Math.cos((lat * Math.PI) / 180) - 0.001);
  // From south to north. Lists of numbers: objects would take ten times as long.
  const [lats, lons] = [new Float64Array(count), new Float64Array(count)];
  let [widest, west, east] = [window, Infinity, -Infinity];
  for (let n = 0; n < count; n += 1) {
    const { lat, lon } = places[(order[n]! %= numbers)]!;
    [lats[n], lons[n]] = [lat, lon];
    widest = Math.max(widest, acrossAt(lat));
    west = Math.min(west, lon);
    east = Math.max(east, lon);
  }
  const width = Math.max(widest, ((east - west) * usualInColumn) / count);
  const columnOf = (n: number): number => Math.floor((lons[n]! - west) / width);
  // Columns wider than any pair: the places of each one, one after the other, and the first that the look has not passed.
  const ends = new Uint32Array(count === 0 ? 1 : Math.floor((east - west) / width) + 1);
  for (let n = 0; n < count; n += 1) ends[columnOf(n)]! += 1;
  for (let at = 1; at < ends.length; at += 1) ends[at]! += ends[at - 1]!;
  const inColumns = new Uint32Array(count);
  const next = Uint32Array.from(ends);
  for (let n = count - 1; n >= 0; n -= 1) inColumns[(next[columnOf(n)]! -= 1)] = n;
  const near: Near<P>[] = [];
  for (let n = 0; n < count; n += 1) {
    const [a, lat, lon, home] = [places[order[n]!]!, lats[n]!, lons[n]!, columnOf(n)];
    const across = acrossAt(lat);
    next[home]! += 1;
    let found = 0;
    for (let at = Math.max(0, home - 1); at <= home + 1 && at < ends.length; at += 1)
      for (let k = next[at]!; k < ends[at]!; k += 1) {
        const m = inColumns[k]!;
        if (lats[m]! - lat > window) break;
        if (Math.abs(lons[m]! - lon) > across) continue;
        const b = places[order[m]!]!;
        const metres = of(a, b) ? distanceM(a, b) : Infinity;
        if (metres > withinM) continue;
        near.push(isBefore(a, b) ? { a, b, metres } : { a: b, b: a, metres });
        if ((found += 1) > most)
          throw wrongFile(
            `more than ${most} of its stations stand within ${withinM} m of ${lat} ${lon}`,
            "That is the position of something else, such as the middle of a city: leave these rows out, or give them positions of their own.",
          );
      }
  }
  return near.sort((x, y) => {
    const [one, other] = x.a === y.a ? [x.b, y.b] : [x.a, y.a];
    return isBefore(one, other) ? -1 : 1;
  });
}

const isBefore = (a: Point & { id: string }, b: Point & { id: string }): boolean =>
  a.lat < b.lat || (a.lat === b.lat && a.id < b.id);
