import type { Box } from "#src/domain/geo.ts";
import type { FuelBlock } from "#src/domain/state.ts";
import { hourMs } from "#src/domain/units.ts";
import { holds } from "#web/widget/rectangles.ts";

interface Placed {
  id: string;
  lat: number;
  lon: number;
}

/** The API's answer about a rectangle. */
export interface Part<Station extends Placed> {
  box: Box;
  stations: readonly Station[];
  /** The answer holds only some of the rectangle's stations. */
  split: boolean;
  /** Time of the answer, ms. */
  at: number;
}

/**
 * The stations of all parts by id. The newest answer counts: a station that an older answer names and a
 * newer complete one about its place does not is gone.
 */
export function joinParts<Station extends Placed>(
  parts: readonly Part<Station>[],
): Map<string, Station> {
  const joined = new Map<string, Station>();
  const told: Box[] = [];
  for (const { box, stations, split } of [...parts].sort((a, b) => b.at - a.at)) {
    for (const station of stations) {
      const { id, lat, lon } = station;
      if (!joined.has(id) && !told.some((newer) => holds(newer, lat, lon))) joined.set(id, station);
    }
    if (!split) told.push(box);
  }
  return joined;
}

/** A chance is of the moment of its answer, and says nothing an hour later; signs then fade by the age. */
export const isPast = ({ at }: { at: number }, now: number): boolean => now - at > hourMs;

/** The answer with those chances that still say something. */
export const withoutOldChances = <Station extends Placed & { fuel: FuelBlock }>(
  part: Part<Station>,
  now: number,
): Part<Station> =>
  isPast(part, now)
    ? {
        ...part,
        stations: part.stations.map((station) => {
          const { chance: _chance, ...fuel } = station.fuel;
          return { ...station, fuel };
        }),
      }
    : part;
