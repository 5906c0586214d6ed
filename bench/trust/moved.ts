import type { FuelBlock } from "#src/domain/state.ts";
import type { Window } from "#bench/trust/measures.ts";
import type { Shown, Timelines } from "#bench/trust/timeline.ts";

export interface Moved {
  /** Stations where something that a driver acts on was another than without the attack, for any time. */
  acted: number;
  /** The same for any field at all: counts, pending marks and times too. */
  anyField: number;
}

/** What a driver acts on: status, grades, prices, queue, limit, flags, and whether it is disputed. */
export const actedOn = (fuel: FuelBlock): string =>
  JSON.stringify([
    fuel.status,
    fuel.fuels_now,
    fuel.fuels_no,
    fuel.prices,
    fuel.queue,
    fuel.limit_l,
    fuel.no_cash,
    fuel.fuel_cards_only,
    fuel.conflict !== null,
  ]);

const anything = (fuel: FuelBlock): string => JSON.stringify(fuel);

/**
 * Stations that an attack moved: the same honest traffic is simulated without the attack, and what is served is
 * compared at every moment. So a station counts as well where no false mark stands, but an honest one was refused.
 */
export function movedBy(attacked: Timelines, without: Timelines, window: Window): Moved {
  const count = (keyOf: (fuel: FuelBlock) => string): number =>
    attacked.filter((shown, station) => differs(shown, without[station]!, window, keyOf)).length;
  return { acted: count(actedOn), anyField: count(anything) };
}

function differs(
  a: readonly Shown[],
  b: readonly Shown[],
  window: Window,
  keyOf: (fuel: FuelBlock) => string,
): boolean {
  const times = [window.from, ...[...a, ...b].map(({ at }) => at)]
    .filter((at) => at >= window.from && at < window.until)
    .sort((one, other) => one - other);
  const keysOfA = keysAt(a, times, keyOf);
  const keysOfB = keysAt(b, times, keyOf);
  return times.some((_, index) => keysOfA[index] !== keysOfB[index]);
}

/** The key of what was served at each of these times, ascending; null before anything was. */
function keysAt(
  shown: readonly Shown[],
  times: readonly number[],
  keyOf: (fuel: FuelBlock) => string,
): (string | null)[] {
  let next = 0;
  let key: string | null = null;
  return times.map((at) => {
    for (; next < shown.length && shown[next]!.at <= at; next += 1) key = keyOf(shown[next]!.fuel);
    return key;
  });
}
