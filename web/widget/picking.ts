import { signal } from "@preact/signals";
import type { Point } from "#src/domain/geo.ts";
import { map } from "#web/widget/map-handle.ts";

/** Set while the viewer puts the map's middle on a place; called with it, or with null. */
export const picking = signal<((at: Point | null) => void) | null>(null);

/** Has the viewer choose a place, beginning around `from` at `zoom`; null when that was called off. */
export function pickPlace(from: Point | null, zoom: number): Promise<Point | null> {
  if (from !== null) map.peek()?.jump({ lat: from.lat, lon: from.lon, zoom });
  return new Promise((done) => {
    picking.value = (at) => {
      picking.value = null;
      done(at);
    };
  });
}
