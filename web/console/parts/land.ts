import { VectorTile } from "@mapbox/vector-tile";
import { PbfReader } from "pbf";
import { PMTiles } from "pmtiles";
import { type MapView, type PlacedTile, tilesIn } from "#web/kit/map-view.ts";

/** Steps of a coast that are shorter are left out, pixels. */
const leastStep = 0.7;
let archive: PMTiles | null = null;

/** Data of SVG paths, in pixels of a view. */
export interface Land {
  /** Paths to fill: one for each tile, because tiles overlap a little. */
  areas: readonly string[];
  /** The path to draw as a line. */
  coast: string;
}

/** The land of the bundled base map. Rejects when it cannot be read. */
export async function landIn(view: MapView): Promise<Land> {
  archive ??= new PMTiles(new URL("../basemap/bundled.pmtiles", document.baseURI).href);
  const from = archive;
  const found = await Promise.all(
    tilesIn(view).map(async (tile) => {
      const content = await from.getZxy(tile.z, tile.x, tile.y);
      // The sea has no tiles.
      return content === undefined ? [] : ringsOf(new Uint8Array(content.data), tile);
    }),
  );
  return {
    areas: found.map((rings) => rings.map(areaOf).join("")).filter((area) => area !== ""),
    coast: found.flat().map(coastOf).join(""),
  };
}

interface Corner {
  x: number;
  y: number;
  /** The edges of its tile, or of the world at 180°, on which it lies: the land was cut off there. */
  cut: readonly string[];
}

function ringsOf(bytes: Uint8Array, { left, top, size }: PlacedTile): Corner[][] {
  const layer = new VectorTile(new PbfReader(bytes)).layers["land"];
  if (layer === undefined) return [];
  const rings: Corner[][] = [];
  for (let n = 0; n < layer.length; n++) {
    const { extent } = layer;
    for (const ring of layer.feature(n).loadGeometry()) {
      const kept: Corner[] = [];
      for (const point of ring) {
        const x = left + (point.x / extent) * size;
        const y = top + (point.y / extent) * size;
        const outside = (at: number): boolean => at <= 0 || at >= extent;
        const cut = [
          ...(outside(point.x) ? [`x${point.x}`] : []),
          ...(outside(point.y) ? [`y${point.y}`] : []),
        ];
        const last = kept.at(-1);
        const isFar = last === undefined || Math.hypot(x - last.x, y - last.y) >= leastStep;
        if (isFar || cut.length > 0) kept.push({ x, y, cut });
      }
      if (kept.length > 2) rings.push(kept);
    }
  }
  return rings;
}

const at = ({ x, y }: Corner): string => `${x.toFixed(1)} ${y.toFixed(1)}`;
const areaOf = (ring: readonly Corner[]): string => `M${ring.map(at).join("L")}Z`;

/** The outline without the lines along which tiles were cut out. */
const coastOf = (ring: readonly Corner[]): string =>
  ring
    .map((corner, n) => {
      const before = ring[n - 1];
      const isCut = before === undefined || corner.cut.some((edge) => before.cut.includes(edge));
      return `${isCut ? "M" : "L"}${at(corner)}`;
    })
    .join("");
