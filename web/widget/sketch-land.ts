import { signal } from "@preact/signals";
import { type MapView, type PlacedTile, tilesIn } from "#web/kit/map-view.ts";
import { page } from "#web/widget/page.ts";

/** The service has the land in tiles of these zooms. */
const zoomMax = 10;
/** Width of the world, pixels, from which on the coast is as fine in wider tiles, so fewer are needed. */
const nearPx = 512 * 2 ** 9;
/** A side of a tile in its path's units. */
export const tileUnits = 4096;

/** Data of SVG paths by tile. */
const paths = signal<ReadonlyMap<string, string>>(new Map());
const asked = new Set<string>();

const nameOf = ({ z, x, y }: PlacedTile): string => `${z}/${x}/${y}`;

const tilesOf = (view: MapView): PlacedTile[] =>
  tilesIn(view, { zoomMax, leastPx: view.scale < nearPx ? 1024 : 2048 });

/** The land in a view as paths with where they belong; null while some of it is still to come. */
export function landIn(view: MapView): { path: string; transform: string }[] | null {
  const placed = tilesOf(view).map((tile) => ({
    ...tile,
    path: paths.value.get(nameOf(tile)),
  }));
  if (placed.some(({ path }) => path === undefined)) return null;
  return placed.map(({ path = "", left, top, size }) => ({
    path,
    transform: `translate(${left} ${top}) scale(${size / tileUnits})`,
  }));
}

/** Asks for the land in a view, each tile once. */
export function askLand(view: MapView): void {
  for (const name of tilesOf(view).map(nameOf)) {
    if (asked.has(name)) continue;
    asked.add(name);
    void fetch(`${page.root}basemap/land/${name}`)
      .then(async (response) => {
        if (!response.ok) return;
        const path = await response.text();
        paths.value = new Map(paths.value).set(name, path);
      })
      // The stations are worth more than the land.
      .catch(() => asked.delete(name));
  }
}
