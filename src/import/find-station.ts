import { distanceM, type Point } from "#src/domain/geo.ts";

export interface LocatedStation extends Point {
  id: string;
}

export type Found =
  | { id: string; metres: number }
  | { refused: "unknown-station" | "no-station-near" };

/**
 * Finds the stations that an import names: by one of their ids, else the nearest one within `nearM` metres (ties by
 * id). `metres` is 0 for a station found by its id.
 */
export function createStationFinder(
  stations: readonly LocatedStation[],
  nearM: number,
): (ids: readonly string[], point: Point | null) => Found {
  const ids = new Set(stations.map((one) => one.id));
  const byLat = [...stations].sort((a, b) => a.lat - b.lat);
  const reach = nearM / 111_000;

  const firstFrom = (lat: number): number => {
    let [low, high] = [0, byLat.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (byLat[middle]!.lat < lat) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const nearest = (point: Point): Found => {
    let best: { id: string; metres: number } | null = null;
    for (let at = firstFrom(point.lat - reach); at < byLat.length; at += 1) {
      const station = byLat[at]!;
      if (station.lat > point.lat + reach) break;
      const metres = distanceM(point, station);
      if (metres > nearM) continue;
      if (best === null || metres < best.metres || (metres === best.metres && station.id < best.id))
        best = { id: station.id, metres };
    }
    return best ?? { refused: "no-station-near" };
  };
  return (names, point) => {
    const id = names.find((name) => ids.has(name));
    if (id !== undefined) return { id, metres: 0 };
    return point === null ? { refused: "unknown-station" } : nearest(point);
  };
}
