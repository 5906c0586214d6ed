import type { FuelBlock, StationState } from "#src/domain/state.ts";
import { transitions, view } from "#src/domain/view.ts";

/** What a station served from `at`, ms, until the next entry. */
export interface Shown {
  at: number;
  fuel: FuelBlock;
}

/** By station: everything it served, in order. */
export type Timelines = readonly (readonly Shown[])[];

/**
 * Notes what stations serve as time goes on, what time alone changes included. `note` is told of a station's state
 * after each mark that it took, in order of time.
 */
export function createTimelines(stations: number, from: number, lifetimeMs: number) {
  const shown: Shown[][] = Array.from({ length: stations }, () => []);
  const states: (StationState | null)[] = Array.from({ length: stations }, () => null);
  const seenUntil = Array.from({ length: stations }, () => from);

  const put = (station: number, at: number, fuel: FuelBlock): void => {
    const list = shown[station]!;
    const last = list.at(-1);
    if (last?.at === at) last.fuel = fuel;
    else list.push({ at, fuel });
  };
  /** What time alone changed since the station was last looked at. */
  const passTime = (station: number, until: number): void => {
    const state = states[station] ?? null;
    if (state !== null)
      for (const at of transitions(state, lifetimeMs))
        if (at > seenUntil[station]! && at < until) put(station, at, view(state, at, lifetimeMs));
    seenUntil[station] = until;
  };

  return {
    note(station: number, at: number, state: StationState): void {
      passTime(station, at);
      states[station] = state;
      put(station, at, view(state, at, lifetimeMs));
    },
    /** All there is up to `until`, ms. */
    finish(until: number): Timelines {
      states.forEach((_, station) => passTime(station, until));
      return shown;
    },
  };
}
