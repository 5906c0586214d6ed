import { createChances, type SharedBeliefs } from "#src/domain/chance/chances.ts";
import type { ChanceMark } from "#src/domain/chance/mark.ts";
import type { ChanceNumbers } from "#src/domain/chance/numbers.ts";
import { order } from "#src/domain/state.ts";

/** How a station's chance went; times in ms, chances from 0 to 1. */
export interface Trail {
  points: { at: number; chance: number }[];
  /** What each mark did to it; null before the first one. */
  marks: { id: number; at: number; fuel: boolean; before: number | null; after: number }[];
}

/**
 * A station's chance from `from` to `until`, each `everyMs` and at its marks, as who follows the marks would have it that
 * hears the station anew, knowing of lies what is known by now. `marks`: of this station, earlier ones too. `aheadMs`:
 * by how much its local time is ahead of UTC.
 */
export function trailOf(
  numbers: ChanceNumbers,
  shared: SharedBeliefs | undefined,
  marks: readonly ChanceMark[],
  aheadMs: number,
  { from, until, everyMs }: { from: number; until: number; everyMs: number },
): Trail {
  const chances = createChances(numbers, () => aheadMs, undefined, shared);
  const trail: Trail = { points: [], marks: [] };
  let next = from;
  const goTo = (end: number): void => {
    for (; next <= end; next += everyMs) note(next);
  };
  const stationId = marks[0]?.stationId ?? "";
  const note = (at: number): void => {
    const chance = chances.chanceAt(stationId, at);
    if (chance !== null) trail.points.push({ at, chance });
  };
  for (const mark of marks.toSorted(order)) {
    const { id, at, fuel } = mark;
    goTo(Math.min(at, until));
    const before = chances.chanceAt(stationId, at);
    if (at >= from) note(at);
    chances.take([mark], false);
    if (at < from) continue;
    note(at);
    trail.marks.push({ id, at, fuel, before, after: chances.chanceAt(stationId, at)! });
  }
  goTo(until);
  note(until);
  return trail;
}
