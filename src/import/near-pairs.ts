import { distanceM, type Point } from "#src/domain/geo.ts";
import { wrongFile } from "#src/import/read-text.ts";

interface Near<P> {
  a: P;
  b: P;
  metres: number;
}

/** A strip from south to north, wider than any pair: its places, and how many of them the look has passed. */
interface Column {
  north: number[];
  passed: number;
  /** Itself and its neighbours. */
  beside: Column[];
}

/** Places of a column where they lie evenly: more columns cost more than they save. */
const usualInColumn = 16;

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
  const byLat = [...places].sort((a, b) => a.lat - b.lat || (a.id < b.id ? -1 : 1));
  const window = withinM / 111_000;
  const acrossAt = (lat: number): number =>
    window / Math.max(0.01, Math.cos((lat * Math.PI) / 180) - 0.001);
  let [widest, west, east] = [window, Infinity, -Infinity];
  for (const { lat, lon } of byLat) {
    widest = Math.max(widest, acrossAt(lat));
    west = Math.min(west, lon);
    east = Math.max(east, lon);
  }
  const width = Math.max(widest, ((east - west) * usualInColumn) / byLat.length);
  const columns = new Map<number, Column>();
  const homes = byLat.map(({ lon }, n) => {
    const at = Math.floor(lon / width);
    let column = columns.get(at);
    if (column === undefined) columns.set(at, (column = { north: [], passed: 0, beside: [] }));
    column.north.push(n);
    return column;
  });
  for (const [at, column] of columns)
    column.beside = [at - 1, at, at + 1].flatMap((one) => columns.get(one) ?? []);
  const near: Near<P>[] = [];
  for (const [n, a] of byLat.entries()) {
    const across = acrossAt(a.lat);
    homes[n]!.passed += 1;
    let found: number[] | undefined;
    for (const { north, passed } of homes[n]!.beside)
      for (let next = passed; next < north.length; next += 1) {
        const b = byLat[north[next]!]!;
        if (b.lat - a.lat > window) break;
        if (Math.abs(b.lon - a.lon) > across || !of(a, b)) continue;
        if (distanceM(a, b) > withinM) continue;
        (found ??= []).push(north[next]!);
        if (found.length > most)
          throw wrongFile(
            `more than ${most} of its stations stand within ${withinM} m of ${a.lat} ${a.lon}`,
            "That is the position of something else, such as the middle of a city: leave these rows out, or give them positions of their own.",
          );
      }
    for (const one of found?.sort((x, y) => x - y) ?? [])
      near.push({ a, b: byLat[one]!, metres: distanceM(a, byLat[one]!) });
  }
  return near;
}
