import type { Random } from "#demo/country/random.ts";
import { distanceM } from "#src/domain/geo.ts";
import { hourMs } from "#src/domain/units.ts";
import { type Country, placeAroundCity } from "#bench/trust/country.ts";
import type { Said, Way } from "#bench/trust/chance/ways.ts";
import { hadFuel, type Truth } from "#bench/trust/truth.ts";

const reachM = 6000;
const speedMPerH = 30_000;
/** From this chance on the nearest station is taken. */
const likely = 0.7;

/**
 * How a driver chooses: the nearest station with published fuel; the nearest whose last mark says fuel; the highest chance
 * within reach; the nearest that is likely, else the highest. Where none is shown, the nearest of all.
 */
export const choices = ["published", "last", "highest", "likely"] as const;
export type Choice = (typeof choices)[number];

export interface Trips {
  /** Share of drivers who find fuel at their first stop. */
  found: Record<Choice, number>;
  /** To the first stop, in the mean. */
  wayM: Record<Choice, number>;
  /** Share of drivers who have a station with fuel within reach. */
  possible: number;
}

/** Drivers at random places in and around the cities. `drive` sends one at `at`, ms. */
export function createTrips({ stations }: Country, truth: Truth, random: Random) {
  const found = { published: 0, last: 0, highest: 0, likely: 0 };
  const metres = { published: 0, last: 0, highest: 0, likely: 0 };
  let drivers = 0;
  let possible = 0;

  return {
    drive(at: number, said: Said): void {
      const from = placeAroundCity(random);
      const within = stations
        .map((station, index) => ({ index, awayM: distanceM(from, station) }))
        .filter(({ awayM }) => awayM <= reachM)
        .sort((a, b) => a.awayM - b.awayM);
      drivers += 1;
      const nearest = within[0];
      if (nearest === undefined) return;
      const hasFuel = ({ index, awayM }: typeof nearest): boolean =>
        hadFuel(truth, index, at + (awayM / speedMPerH) * hourMs);
      const first = (way: Way, least: number) =>
        within.find(({ index }) => said[way][index]! >= least);
      const highest = within.reduce((best, one) =>
        said.chance[one.index]! > said.chance[best.index]! ? one : best,
      );
      const stops: Record<Choice, typeof nearest> = {
        published: first("published", 1) ?? nearest,
        last: first("last", 1) ?? nearest,
        highest,
        likely: first("chance", likely) ?? highest,
      };
      possible += Number(within.some(hasFuel));
      for (const choice of choices) {
        found[choice] += Number(hasFuel(stops[choice]));
        metres[choice] += stops[choice].awayM;
      }
    },
    result(): Trips {
      const mean = (sums: Record<Choice, number>): Record<Choice, number> => ({
        published: sums.published / drivers,
        last: sums.last / drivers,
        highest: sums.highest / drivers,
        likely: sums.likely / drivers,
      });
      return { found: mean(found), wayM: mean(metres), possible: possible / drivers };
    },
  };
}
