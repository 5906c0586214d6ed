import type { Box } from "#src/domain/geo.ts";

/** A view is one rectangle from this zoom on; below, the world is cut into cells that do not move with it. */
const cellsBelowZoom = 6.5;
const cell = { lat: 22.5, lon: 45 };
const cells = { rows: 8, columns: 8 };
// Room for a little moving about without a new question.
const padding = 0.15;
const gridPerTile = 4;
const tileDegrees = 360;
// A rectangle that covers this many views is too much to renew each minute.
const roomiest = 40;

/** The rectangle's name in a request: `south,west,north,east`. */
export const nameOf = ({ south, west, north, east }: Box): string =>
  [south, west, north, east].map((degrees) => Number(degrees.toFixed(4))).join(",");

/**
 * The rectangles that show `view` at `zoom`. Their corners lie on a grid, so that neighbours ask for the same; one of
 * `before` that still fits is kept.
 */
export function rectanglesFor(view: Box, zoom: number, before: readonly Box[]): Box[] {
  if (zoom < cellsBelowZoom) return cellsOver(view);
  const kept = before.find(
    (box) => contains(box, view) && areaOf(box) <= roomiest * Math.max(areaOf(view), 1e-6),
  );
  if (kept !== undefined) return [kept];
  const step = tileDegrees / 2 ** Math.floor(zoom) / gridPerTile;
  const [height, width] = [view.north - view.south, view.east - view.west];
  const down = (degrees: number): number => Math.floor(degrees / step) * step;
  const up = (degrees: number): number => Math.ceil(degrees / step) * step;
  return [
    {
      south: Math.max(-90, down(view.south - height * padding)),
      west: Math.max(-180, down(view.west - width * padding)),
      north: Math.min(90, up(view.north + height * padding)),
      east: Math.min(180, up(view.east + width * padding)),
    },
  ];
}

function cellsOver({ south, west, north, east }: Box): Box[] {
  const found: Box[] = [];
  for (let row = 0; row < cells.rows; row++) {
    for (let column = 0; column < cells.columns; column++) {
      const box = {
        south: -90 + row * cell.lat,
        west: -180 + column * cell.lon,
        north: -90 + (row + 1) * cell.lat,
        east: -180 + (column + 1) * cell.lon,
      };
      if (overlap(box, { south, west, north, east })) found.push(box);
    }
  }
  return found;
}

/** The boxes of the world in a map with these edges, whose longitudes may lie beyond 180°: one box, or two. */
export function boxesOf({ south, west, north, east }: Box): Box[] {
  const [bottom, top] = [Math.max(-90, south), Math.min(90, north)];
  if (east - west >= 360) return [{ south: bottom, west: -180, north: top, east: 180 }];
  const [left, right] = [wrapLon(west), wrapLon(east)];
  if (left <= right) return [{ south: bottom, west: left, north: top, east: right }];
  return [
    { south: bottom, west: left, north: top, east: 180 },
    { south: bottom, west: -180, north: top, east: right },
  ];
}

/** The boxes in a map of this size, pixels, that opens on a point: a map's world is 512 pixels wide at zoom 0. */
export function boxesAround(
  { lat, lon, zoom }: { lat: number; lon: number; zoom: number },
  { width, height }: { width: number; height: number },
): Box[] {
  const perPixel = 360 / 512 / 2 ** zoom;
  const [aside, upwards] = [
    (width * perPixel) / 2,
    ((height * perPixel) / 2) * Math.cos((lat * Math.PI) / 180),
  ];
  return boxesOf({
    south: lat - upwards,
    west: lon - aside,
    north: lat + upwards,
    east: lon + aside,
  });
}

/** The same meridian within -180 to 180. */
export const wrapLon = (lon: number): number => ((((lon + 180) % 360) + 360) % 360) - 180;

/** The four quarters of a rectangle that holds more than one answer can. */
export function quarters({ south, west, north, east }: Box): Box[] {
  const [lat, lon] = [(south + north) / 2, (west + east) / 2];
  return [
    { south, west, north: lat, east: lon },
    { south, west: lon, north: lat, east },
    { south: lat, west, north, east: lon },
    { south: lat, west: lon, north, east },
  ];
}

export const overlap = (a: Box, b: Box): boolean =>
  a.south < b.north && a.north > b.south && a.west < b.east && a.east > b.west;

/** Whether the point lies in the rectangle. */
export const holds = ({ south, west, north, east }: Box, lat: number, lon: number): boolean =>
  lat >= south && lat <= north && lon >= west && lon <= east;

export const contains = (outer: Box, inner: Box): boolean =>
  outer.south <= inner.south &&
  outer.north >= inner.north &&
  outer.west <= inner.west &&
  outer.east >= inner.east;

const areaOf = ({ south, west, north, east }: Box): number => (north - south) * (east - west);
