/** The view of a small map in Web Mercator: the whole world is a square from 0 to 1, x to the east, y to the south. */
export interface MapView {
  /** The world's x and y at the upper left corner; x may lie beyond 0 and 1, on the other side of 180°. */
  left: number;
  top: number;
  /** Pixels of the whole world. */
  scale: number;
  width: number;
  height: number;
}

interface Point {
  lat: number;
  lon: number;
}

/** A tile of the base map, with where its upper left corner lies in the view and how large it is, in pixels. */
export interface PlacedTile {
  z: number;
  x: number;
  y: number;
  left: number;
  top: number;
  size: number;
}

const earthM = 40_075_017;
/** The closest view: with less land around a station nobody knows where it is. */
const leastWidthM = 12_000;
/** Room for the signs at the edges, pixels. */
const edge = 30;
const maxLat = 85.05112878;
const tileZoomMax = 7;
const tilePx = 512;

export const worldX = (lon: number): number => (lon + 180) / 360;

export function worldY(lat: number): number {
  const sine = Math.sin((Math.min(maxLat, Math.max(-maxLat, lat)) * Math.PI) / 180);
  return 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI);
}

/**
 * The closest view of `width` × `height` pixels that holds all points (decisions 13.23). Points on both sides of
 * 180° are shown together: the widest gap between their longitudes lies outside. Without points: the world.
 */
export function fitView(points: readonly Point[], width: number, height: number): MapView {
  const { west, spanX } = narrowest(points.map(({ lon }) => worldX(lon)));
  const ys = points.map(({ lat }) => worldY(lat));
  const [north, south] = ys.length === 0 ? [0, 1] : [Math.min(...ys), Math.max(...ys)];
  const centre = { x: west + spanX / 2, y: (north + south) / 2 };
  const closest = (width * earthM * shrinkAt(centre.y)) / leastWidthM;
  const scale = Math.min(
    (width - 2 * edge) / spanX,
    (height - 2 * edge) / (south - north),
    closest,
  );
  return {
    left: centre.x - width / scale / 2,
    top: centre.y - height / scale / 2,
    ...{ scale, width, height },
  };
}

/** The shortest stretch around the world that holds all these x. */
function narrowest(xs: readonly number[]): { west: number; spanX: number } {
  const sorted = xs.map((x) => x - Math.floor(x)).sort((a, b) => a - b);
  let [west, gap] = [0, 0];
  for (const [n, x] of sorted.entries()) {
    const next = sorted[n + 1] ?? sorted[0]! + 1;
    if (next - x > gap) [west, gap] = [next, next - x];
  }
  return { west, spanX: 1 - gap };
}

/** How much shorter a degree of longitude is there than at the equator. */
const shrinkAt = (y: number): number => 1 / Math.cosh(Math.PI * (1 - 2 * y));

/** The place of a point in the view, in pixels: its copy around the world that is nearest to the middle. */
export function placeIn(
  { left, top, scale, width }: MapView,
  { lat, lon }: Point,
): [x: number, y: number] {
  const x = worldX(lon);
  const turns = Math.round(left + width / scale / 2 - x);
  return [(x + turns - left) * scale, (worldY(lat) - top) * scale];
}

/** Metres that one pixel shows in the middle of the view. */
export const metresPerPx = ({ top, height, scale }: MapView): number =>
  (earthM * shrinkAt(top + height / scale / 2)) / scale;

/**
 * The view of `width` × `height` pixels around a point, at a zoom as the large map counts them: at zoom 0 the world is
 * 512 pixels wide.
 */
export function viewAround(
  { lat, lon, zoom }: Point & { zoom: number },
  { width, height }: Pick<MapView, "width" | "height">,
): MapView {
  const scale = tilePx * 2 ** zoom;
  return {
    left: worldX(lon) - width / scale / 2,
    top: worldY(lat) - height / scale / 2,
    ...{ scale, width, height },
  };
}

/** The point at this x and y of the world. */
export function pointAt(x: number, y: number): Point {
  const lat = (Math.atan(Math.sinh(Math.PI * (1 - 2 * y))) * 180) / Math.PI;
  return { lat, lon: (x - Math.floor(x)) * 360 - 180 };
}

/**
 * The tiles that cover the view, each at least `leastPx` wide where it can be; the bundled base map has zooms 0 to 7,
 * 512 pixels wide.
 */
export function tilesIn(
  { left, top, scale, width, height }: MapView,
  { leastPx = tilePx, zoomMax = tileZoomMax } = {},
): PlacedTile[] {
  const z = Math.min(zoomMax, Math.max(0, Math.floor(Math.log2(scale / leastPx))));
  const count = 2 ** z;
  const size = scale / count;
  const [fromX, toX] = [left, left + width / scale].map((x) => Math.floor(x * count));
  const [fromY, toY] = [top, top + height / scale].map((y) => Math.floor(y * count));
  const tiles: PlacedTile[] = [];
  for (let x = fromX!; x <= toX!; x++)
    for (let y = Math.max(0, fromY!); y <= Math.min(count - 1, toY!); y++)
      tiles.push({
        ...{ z, x: ((x % count) + count) % count, y },
        ...{ left: (x / count - left) * scale, top: (y / count - top) * scale, size },
      });
  return tiles;
}
