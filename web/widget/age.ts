import type { FuelBlock } from "#src/domain/state.ts";
import { parseTime } from "#src/domain/time.ts";
import { hourMs, minuteMs } from "#src/domain/units.ts";

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

export const fadingOf = (ageMin: number | null): Fading =>
  fadesAfterMs.filter((after) => (ageMin ?? 0) * minuteMs >= after).length as Fading;
