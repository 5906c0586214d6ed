import type { FuelBlock } from "#src/domain/state.ts";
import { emptyState } from "#src/domain/state.ts";
import { view } from "#src/domain/view.ts";
import type { SentMark } from "#bench/trust/traffic.ts";
import type { Shown, Timelines } from "#bench/trust/timeline.ts";

/** The rival: no rules at all. Every mark that is sent is what its station shows, for the life of a status. */
export function lastMarkWins(
  marks: readonly SentMark[],
  stations: number,
  lifetimeMs: number,
): Timelines {
  const shown: Shown[][] = Array.from({ length: stations }, () => []);
  const nothing = view(emptyState, 0, lifetimeMs);
  for (const { station, at, status } of marks) {
    const list = shown[station]!;
    const last = list.at(-1);
    if (last !== undefined && at - last.at >= lifetimeMs)
      list.push({ at: last.at + lifetimeMs, fuel: nothing });
    const fuel: FuelBlock = { ...nothing, status };
    list.push({ at, fuel });
  }
  return shown;
}
