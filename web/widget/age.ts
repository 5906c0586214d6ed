import { hasFuel, likelyFrom, shownChance, stationAnswer } from "#src/domain/grade-answer.ts";
import type { FuelBlock } from "#src/domain/state.ts";
import { parseTime } from "#src/domain/time.ts";
import { hourMs, minuteMs } from "#src/domain/units.ts";
import type { Grade } from "#src/domain/vocabulary.ts";

/** How much a sign has faded (decisions 15.18): 0 not at all, 3 as much as it ever does. */
export type Fading = 0 | 1 | 2 | 3;

const fadesAfterMs = [3 * hourMs, 6 * hourMs, 12 * hourMs] as const;

/** Age of the served status, in whole minutes; null where there is none. */
export function ageMinOf(
  { status, updated }: Pick<FuelBlock, "status" | "updated">,
  now: number,
): number | null {
  const at = parseTime(updated);
  if (status === "nodata" || at === null) return null;
  return Math.floor(Math.max(0, now - at) / minuteMs);
}

/**
 * How sure the sign of the station's answer looks: by the chance that the answer is still true, where that is known,
 * with the steps of its words (decisions 23.20); it weighs the age. Else by the age.
 */
export function fadingOf(station: Rated, grade: Grade | null, now: number): Fading {
  const answer = stationAnswer(station, grade);
  const chance = answer === "nodata" ? null : shownChance(station, grade, now);
  if (chance === null) return fadingOfAge(ageMinOf(station.fuel, now));
  const truth = hasFuel(answer) ? chance : 100 - chance;
  return truth >= likelyFrom ? 0 : truth >= 100 - likelyFrom ? 2 : 3;
}

type Rated = Parameters<typeof shownChance>[0];

export const fadingOfAge = (ageMin: number | null): Fading =>
  fadesAfterMs.filter((after) => (ageMin ?? 0) * minuteMs >= after).length as Fading;
