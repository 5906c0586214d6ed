import type { Point } from "#src/domain/geo.ts";
import type { ReadModel } from "#snapshots/model/model.ts";

/** Where the stations in service are: enough to judge a mark without asking the database. */
export interface Locations {
  find(id: string): Point | undefined;
  /** Ids of the stations within `radiusM` of a point. */
  within(centre: Point, radiusM: number): string[];
  /** The middle of the rectangle around all stations, and a zoom at which it fits a page; null without stations. */
  middle(): (Point & { zoom: number }) | null;
}

/** The places of a read model's stations. */
export const createLocations = (
  model: Pick<ReadModel, "place" | "idsInside" | "box">,
): Locations => ({
  find: (id) => model.place(id),
  within: (centre, radiusM) => model.idsInside({ kind: "circle", centre, radiusM }),
  middle: () => {
    const box = model.box();
    if (box === null) return null;
    const { south, west, north, east } = box;
    // At zoom 0 the world's 360° are 512 px wide; a phone shows about as many.
    const span = Math.max(east - west, 2 * (north - south), 0.05);
    const zoom = Math.min(12, Math.floor(Math.log2(360 / span)));
    return { lat: (south + north) / 2, lon: (west + east) / 2, zoom };
  },
});
