import { boxAround, distanceM, type Point } from "#src/domain/geo.ts";
import type { FeedRow } from "#src/feed.ts";

/** Where the stations in service are: enough to judge a mark without asking the database. */
export interface Places {
  apply(rows: readonly FeedRow[]): void;
  find(id: string): Point | undefined;
  /** Ids of the stations within `radiusM` of a point. */
  within(centre: Point, radiusM: number): string[];
}

const cellsPerDegree = 20;
const cellOf = (degrees: number): number => Math.floor(degrees * cellsPerDegree);
const around = 360 * cellsPerDegree;
const cellKey = (latCell: number, lonCell: number): number =>
  latCell * around + (((lonCell % around) + around) % around);

/** Stations in cells of 0.05°, which a radius of a few kilometres touches a handful of. */
export function createPlaces(): Places {
  const points = new Map<string, Point>();
  const cells = new Map<number, Set<string>>();
  const keyOf = ({ lat, lon }: Point): number => cellKey(cellOf(lat), cellOf(lon));

  const remove = (id: string): void => {
    const point = points.get(id);
    if (point === undefined) return;
    points.delete(id);
    cells.get(keyOf(point))?.delete(id);
  };

  return {
    apply: (rows) => {
      for (const { id, lat, lon, removed } of rows) {
        remove(id);
        if (removed) continue;
        const point = { lat, lon };
        points.set(id, point);
        const cell = cells.get(keyOf(point)) ?? new Set();
        cells.set(keyOf(point), cell.add(id));
      }
    },
    find: (id) => points.get(id),
    within: (centre, radiusM) => {
      const { south, north, west, east } = boxAround(centre, radiusM);
      const first = cellOf(west);
      const last = cellOf(east < west ? east + 360 : east);
      const found: string[] = [];
      for (let lat = cellOf(south); lat <= cellOf(north); lat++) {
        for (let lon = first; lon <= last; lon++) {
          for (const id of cells.get(cellKey(lat, lon)) ?? []) {
            if (distanceM(centre, points.get(id)!) <= radiusM) found.push(id);
          }
        }
      }
      return found;
    },
  };
}
