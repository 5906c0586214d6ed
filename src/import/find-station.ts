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
  const ids = new Set(stations.map(({ id }) => id));
  /** Stations by rows of latitude, each `nearM` high. */
  const byRow = new Map<number, LocatedStation[]>();
  const rowOf = ({ lat }: Point): number => Math.floor((lat * 111_000) / nearM);
  for (const station of stations) {
    const row = byRow.get(rowOf(station));
    if (row === undefined) byRow.set(rowOf(station), [station]);
    else row.push(station);
  }
  const nearest = (point: Point): Found => {
    const row = rowOf(point);
    const [found] = [row - 1, row, row + 1]
      .flatMap((near) => byRow.get(near) ?? [])
      .map((station) => ({ id: station.id, metres: distanceM(point, station) }))
      .filter(({ metres }) => metres <= nearM)
      .sort((a, b) => a.metres - b.metres || (a.id < b.id ? -1 : 1));
    return found ?? { refused: "no-station-near" };
  };
  return (names, point) => {
    const id = names.find((name) => ids.has(name));
    if (id !== undefined) return { id, metres: 0 };
    return point === null ? { refused: "unknown-station" } : nearest(point);
  };
}
