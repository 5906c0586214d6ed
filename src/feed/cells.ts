import type { Box, Point } from "#src/domain/geo.ts";

/** Most cells of a rectangle: each is a field that Redis reads. */
const cellsMax = 16;
/**
 * Cells in a degree, for cells of 0.0625° (about 7 km), 0.25° and 4°. Powers of two, so that the cell of a point is
 * computed without rounding.
 */
const levels = [16, 4, 0.25] as const;
const wholeMap = "all";

const rowOf = (lat: number, perDegree: number): number => Math.floor(lat * perDegree);
const columnOf = (lon: number, perDegree: number): number => Math.floor(lon * perDegree);

/** ±180° is one meridian. */
const cellAt = (row: number, column: number, perDegree: number): string => {
  const around = 360 * perDegree;
  return `${perDegree}:${row}:${((column % around) + around) % around}`;
};

/** The cells that contain a point, one of each level. A change there drops the cached rectangles of these cells. */
export const cellsOf = ({ lat, lon }: Point): string[] => [
  ...levels.map((perDegree) => cellAt(rowOf(lat, perDegree), columnOf(lon, perDegree), perDegree)),
  wholeMap,
];

/**
 * The cells of one level that together contain a rectangle and its edges: the finest level that needs at most 16, else
 * the whole map. They include one of `cellsOf` for each point of the rectangle.
 */
export function cellsAround({ south, west, north, east }: Box): string[] {
  for (const perDegree of levels) {
    const from = columnOf(west, perDegree);
    const to = columnOf(west > east ? east + 360 : east, perDegree);
    const first = rowOf(south, perDegree);
    const last = rowOf(north, perDegree);
    const columns = Math.min(to - from + 1, 360 * perDegree);
    if (columns * (last - first + 1) > cellsMax) continue;
    const cells: string[] = [];
    for (let row = first; row <= last; row++)
      for (let column = from; column < from + columns; column++)
        cells.push(cellAt(row, column, perDegree));
    return cells;
  }
  return [wholeMap];
}
