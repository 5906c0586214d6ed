import type { Point } from "#src/domain/geo.ts";
import { worldX, worldY } from "#web/kit/map-view.ts";

/** Distance at which stations become a group, pixels, and the last zoom at which they do. */
export const clusterRadius = 54;
export const clusterMaxZoom = 11;
const worldPx = 512;
// Places are whole steps, as in the map library, so that both group alike to the last.
const stepsPerWorld = 2 ** 30;

/** One station or several, at the middle of them, by its place in the world: x and y from 0 to 1. */
export interface Group<Station> {
  x: number;
  y: number;
  stations: readonly Station[];
}

/**
 * The stations as the map library shows them at that zoom: those that lie near each other as one, from the highest
 * zoom down.
 */
export function groupsOf<Station extends Point>(
  stations: readonly Station[],
  zoom: number,
): Group<Station>[] {
  let groups = stations.map((station): Group<Station> => ({
    x: Math.round((worldX(station.lon) - 0.5) * stepsPerWorld),
    y: Math.round((worldY(station.lat) - 0.5) * stepsPerWorld),
    stations: [station],
  }));
  for (let at = clusterMaxZoom; at >= Math.floor(zoom); at--)
    groups = merged(groups, (clusterRadius / worldPx / 2 ** at) * stepsPerWorld);
  return groups.map(({ x, y, ...rest }) => ({
    x: x / stepsPerWorld + 0.5,
    y: y / stepsPerWorld + 0.5,
    ...rest,
  }));
}

/** The lowest zoom at which a group falls apart. */
export function zoomApart<Station extends Point>({ stations }: Group<Station>, from: number) {
  let zoom = Math.floor(from) + 1;
  while (zoom <= clusterMaxZoom && groupsOf(stations, zoom).length === 1) zoom++;
  return zoom;
}

/** Each in its turn takes all that lie within the radius and were not taken before. */
function merged<Station>(groups: readonly Group<Station>[], radius: number): Group<Station>[] {
  const cells = new Map<string, number[]>();
  const cellOf = (place: number): number => Math.floor(place / radius);
  for (const [n, { x, y }] of groups.entries()) {
    const name = `${cellOf(x)} ${cellOf(y)}`;
    const there = cells.get(name);
    if (there === undefined) cells.set(name, [n]);
    else there.push(n);
  }
  const taken = new Set<number>();
  const found: Group<Station>[] = [];
  for (const [n, group] of groups.entries()) {
    if (taken.has(n)) continue;
    taken.add(n);
    const near = [group];
    for (let column = -1; column <= 1; column++) {
      for (let row = -1; row <= 1; row++) {
        const name = `${cellOf(group.x) + column} ${cellOf(group.y) + row}`;
        for (const other of cells.get(name) ?? []) {
          const { x, y } = groups[other]!;
          if (taken.has(other) || (x - group.x) ** 2 + (y - group.y) ** 2 > radius ** 2) continue;
          taken.add(other);
          near.push(groups[other]!);
        }
      }
    }
    found.push(near.length === 1 ? group : middleOf(near));
  }
  return found;
}

function middleOf<Station>(groups: readonly Group<Station>[]): Group<Station> {
  const stations = groups.flatMap((one) => one.stations);
  const mean = (axis: "x" | "y"): number =>
    Math.round(
      groups.reduce((sum, one) => sum + one[axis] * one.stations.length, 0) / stations.length,
    );
  return { x: mean("x"), y: mean("y"), stations };
}
