import { distanceM, type Point } from "#src/domain/geo.ts";
import { wrongFile } from "#src/import/read-text.ts";
import { grouped } from "#src/infrastructure/lists.ts";

interface Near<P> {
  a: P;
  b: P;
  metres: number;
}

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
  const width = byLat.reduce((widest, { lat }) => Math.max(widest, acrossAt(lat)), window);
  /** Columns from south to north that are wider than any pair, and how much of each is passed. */
  const columnOf = ({ lon }: P): number => Math.floor(lon / width);
  const columns = grouped(byLat.keys(), (n) => columnOf(byLat[n]!));
  const passed = new Map<number, number>();
  return byLat.flatMap((a) => {
    const column = columnOf(a);
    passed.set(column, (passed.get(column) ?? 0) + 1);
    const found: number[] = [];
    for (const beside of [column - 1, column, column + 1]) {
      const north = columns.get(beside) ?? [];
      for (let n = passed.get(beside) ?? 0; n < north.length; n += 1) {
        const b = byLat[north[n]!]!;
        if (b.lat - a.lat > window) break;
        if (Math.abs(b.lon - a.lon) > acrossAt(a.lat) || !of(a, b)) continue;
        if (distanceM(a, b) <= withinM) found.push(north[n]!);
        if (found.length > most)
          throw wrongFile(
            `more than ${most} of its stations stand within ${withinM} m of ${a.lat} ${a.lon}`,
            "That is the position of something else, such as the middle of a city: leave these rows out, or give them positions of their own.",
          );
      }
    }
    const pairOf = (b: P): Near<P> => ({ a, b, metres: distanceM(a, b) });
    return found.sort((x, y) => x - y).map((n) => pairOf(byLat[n]!));
  });
}
