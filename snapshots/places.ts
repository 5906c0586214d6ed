import { boxAround, distanceM, type Point } from "#src/domain/geo.ts";
import type { FeedRow } from "#src/feed.ts";

/** Where the stations in service are: enough to judge a mark without asking the database. */
export interface Places {
  apply(rows: readonly FeedRow[]): void;
  find(id: string): Point | undefined;
  /** Ids of the stations within `radiusM` of a point. */
  within(centre: Point, radiusM: number): string[];
  /** The middle of the rectangle around all stations, and a zoom at which it fits a page; null without stations. */
  middle(): (Point & { zoom: number }) | null;
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
    middle: () => {
      let [south, north, west, east] = [90, -90, 180, -180];
      for (const { lat, lon } of points.values()) {
        [south, north] = [Math.min(south, lat), Math.max(north, lat)];
        [west, east] = [Math.min(west, lon), Math.max(east, lon)];
      }
      if (points.size === 0) return null;
      // At zoom 0 the world's 360° are 512 px wide; a phone shows about as many.
      const span = Math.max(east - west, 2 * (north - south), 0.05);
      const zoom = Math.min(12, Math.floor(Math.log2(360 / span)));
      return { lat: (south + north) / 2, lon: (west + east) / 2, zoom };
    },
  };
}
