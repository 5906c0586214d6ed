import { type Box, boxAround, distanceM, type Point } from "#src/domain/geo.ts";

/** An area to search for stations. A box includes its edges and crosses 180° when west > east. */
export type Area =
  | { kind: "box"; box: Box }
  | { kind: "circle"; centre: Point; radiusM: number }
  | { kind: "all" };

export const outside = 0;
export const partly = 1;
export const inside = 2;
type Relation = typeof outside | typeof partly | typeof inside;

/** An area, compiled for questions about many points and boxes. */
export interface Region {
  centre: Point;
  relate(south: number, west: number, north: number, east: number): Relation;
  holds(lat: number, lon: number): boolean;
}

export function compileArea(area: Area): Region {
  if (area.kind === "box") return boxRegion(area.box);
  if (area.kind === "circle") return circleRegion(area.centre, area.radiusM);
  return { centre: { lat: 0, lon: 0 }, relate: () => inside, holds: () => true };
}

function boxRegion({ south, west, north, east }: Box): Region {
  const crosses = west > east;
  const halfWidth = (crosses ? east + 360 - west : east - west) / 2;
  const middle = west + halfWidth;
  const relateLon = (w: number, e: number): Relation => {
    if (!crosses) return e < west || w > east ? outside : w >= west && e <= east ? inside : partly;
    if (w > east && e < west) return outside;
    return w >= west || e <= east ? inside : partly;
  };
  return {
    centre: { lat: (south + north) / 2, lon: middle > 180 ? middle - 360 : middle },
    relate(s, w, n, e) {
      if (n < south || s > north) return outside;
      const lon = relateLon(w, e);
      return lon === inside && !(s >= south && n <= north) ? partly : lon;
    },
    holds: (lat, lon) =>
      lat >= south &&
      lat <= north &&
      (crosses ? lon >= west || lon <= east : lon >= west && lon <= east),
  };
}

function circleRegion(centre: Point, radiusM: number): Region {
  // The box is a millimetre larger, so that its rounding loses no station on the rim.
  const bounds = boxRegion(boxAround(centre, radiusM + 0.001));
  const opposite = centre.lon > 0 ? centre.lon - 180 : centre.lon + 180;
  const within = (lat: number, lon: number): boolean =>
    distanceM(centre, { lat, lon }) <= radiusM - 0.001;
  return {
    centre,
    relate(s, w, n, e) {
      if (bounds.relate(s, w, n, e) === outside) return outside;
      // Distance grows with the difference of longitude up to 180° and has one valley along a meridian,
      // so the corners are the farthest points unless the box spans the opposite meridian.
      if (w <= opposite && opposite <= e) return partly;
      return within(s, w) && within(s, e) && within(n, w) && within(n, e) ? inside : partly;
    },
    holds: (lat, lon) => bounds.holds(lat, lon) && distanceM(centre, { lat, lon }) <= radiusM,
  };
}
