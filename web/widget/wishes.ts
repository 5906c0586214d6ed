import { type Grade, parseGrade } from "#src/domain/vocabulary.ts";
import type { Target } from "#web/widget/map-handle.ts";

/** What the page around may ask of the map (docs/embedding.md). */
export type Wish =
  | { what: "station"; id: string }
  | { what: "fuel"; grade: Grade | null }
  | { what: "move"; target: Target };

const usualZoom = 12;

/** Reads a message of the page around; null for everything that is none of the three. */
export function readWish(data: unknown): Wish | null {
  if (typeof data !== "object" || data === null) return null;
  const {
    type,
    station_id: id,
    fuel,
    lat,
    lon,
    zoom = usualZoom,
  } = data as Record<string, unknown>;
  if (type === "fuelmark:open-station")
    return typeof id === "string" && /^[\w-]{1,64}$/.test(id) ? { what: "station", id } : null;
  if (type === "fuelmark:set-fuel") {
    const known = fuel === null ? null : parseGrade(typeof fuel === "string" ? fuel : "");
    return known === undefined ? null : { what: "fuel", grade: known };
  }
  if (type !== "fuelmark:move" || !within(lat, 90) || !within(lon, 180) || !within(zoom, 22))
    return null;
  return { what: "move", target: { lat, lon, zoom: Math.max(zoom, 0) } };
}

const within = (value: unknown, most: number): value is number =>
  typeof value === "number" && Math.abs(value) <= most;
