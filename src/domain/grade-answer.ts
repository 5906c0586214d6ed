import { distanceM, type Point } from "#src/domain/geo.ts";
import type { FuelBlock } from "#src/domain/state.ts";
import { parseTime } from "#src/domain/time.ts";
import { minuteMs } from "#src/domain/units.ts";
import type { Grade, ServedStatus } from "#src/domain/vocabulary.ts";

type Told = Pick<FuelBlock, "status" | "fuels_now" | "fuels_no" | "chance">;

const holds = (list: string, grade: Grade): boolean => list.split(",").includes(grade);

/**
 * A station's answer to a driver who needs this grade (decisions 15.11): its status if the grade is there, `no` if the
 * grade or all fuel is out, `nodata` if nobody has told. Without a grade, its status.
 */
export function answerFor(
  { status, fuels_now, fuels_no }: Told,
  grade: Grade | null,
): ServedStatus {
  if (grade === null || status === "nodata" || status === "no") return status;
  if (holds(fuels_now, grade)) return status;
  return holds(fuels_no, grade) ? "no" : "nodata";
}

/** A station with the grades that it sells at all, where that is known (docs/contract.md 2.1). */
interface Selling {
  fuel: Told;
  grades_sold?: string | undefined;
}

/** True when a station does not sell the grade, in stock or not, as far as is known; a driver who has seen it is right. */
export const lacks = ({ fuel, grades_sold }: Selling, grade: Grade): boolean =>
  grades_sold !== undefined && !holds(grades_sold, grade) && !holds(fuel.fuels_now, grade);

/** `answerFor` a station: `nodata` for a grade that it does not sell, because it is not out (decisions 14.22). */
export const stationAnswer = (station: Selling, grade: Grade | null): ServedStatus =>
  grade !== null && lacks(station, grade) ? "nodata" : answerFor(station.fuel, grade);

/**
 * How likely a driver finds this grade at a station, percent (decisions 23.19): the station's chance if the grade is said
 * to be there, 0 if it is out or not sold, null if nothing is known. Without a grade, the station's chance.
 */
export function chanceOf(station: Selling, grade: Grade | null): number | null {
  const { chance = null, fuels_now, fuels_no } = station.fuel;
  if (chance === null || grade === null || holds(fuels_now, grade)) return chance;
  return holds(fuels_no, grade) || lacks(station, grade) ? 0 : null;
}

/** From here on a driver may go there without another choice nearby, percent. */
export const likelyFrom = 70;

/** A status so young has not yet been weighed, ms. */
const unweighedMs = 2 * minuteMs;

/** `chanceOf` as it is shown: not beside a status that it has yet to follow, and no 0 of a grade that is said to be out. */
export function shownChance(
  station: Selling & { fuel: Pick<FuelBlock, "updated"> },
  grade: Grade | null,
  now: number,
): number | null {
  const { status, updated } = station.fuel;
  const ageMs = now - (parseTime(updated) ?? Number.NEGATIVE_INFINITY);
  if (status !== "nodata" && ageMs < unweighedMs) return null;
  const chance = chanceOf(station, grade);
  return chance === 0 && grade !== null ? null : chance;
}

/** True for an answer that means fuel. */
export const hasFuel = (answer: ServedStatus): boolean => answer !== "no" && answer !== "nodata";

/** The price of a grade in roubles per litre, as the API writes it (`61.50`); null when it is unknown. */
export const priceOf = (prices: string | undefined, grade: Grade): string | null =>
  (prices ?? "")
    .split(",")
    .find((pair) => pair.startsWith(`${grade}=`))
    ?.slice(grade.length + 1) ?? null;

/** Radii of the search around a driver: it ends with the first radius that has an answer. */
export const nearRadiiKm = [5, 20, 60] as const;

/** A station and its distance in metres. */
export interface Near<Station> {
  station: Station;
  distance: number;
}

/** The stations within `radiusM` of `from` that have the grade (any fuel without one), the nearest first. */
export function nearestWith<Station extends Point & Selling>(
  stations: readonly Station[],
  { from, radiusM, grade }: { from: Point; radiusM: number; grade: Grade | null },
): Near<Station>[] {
  return stations
    .filter(({ fuel }) => hasFuel(answerFor(fuel, grade)))
    .map((station) => ({ station, distance: distanceM(from, station) }))
    .filter(({ distance }) => distance <= radiusM)
    .sort((a, b) => a.distance - b.distance);
}
