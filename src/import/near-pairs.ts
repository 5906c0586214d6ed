import { distanceM, type Point } from "#src/domain/geo.ts";
import { wrongFile } from "#src/import/read-text.ts";

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
  const near: Near<P>[] = [];
  for (const [index, a] of byLat.entries()) {
    const before = near.length;
    const across = window / Math.max(0.01, Math.cos((a.lat * Math.PI) / 180) - 0.001);
    for (let next = index + 1; next < byLat.length; next += 1) {
      const b = byLat[next]!;
      if (b.lat - a.lat > window) break;
      if (Math.abs(b.lon - a.lon) > across || !of(a, b)) continue;
      const metres = distanceM(a, b);
      if (metres <= withinM) near.push({ a, b, metres });
      if (near.length - before > most)
        throw wrongFile(
          `more than ${most} of its stations stand within ${withinM} m of ${a.lat} ${a.lon}`,
          "That is the position of something else, such as the middle of a city: leave these rows out, or give them positions of their own.",
        );
    }
  }
  return near;
}
