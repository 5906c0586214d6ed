import type { Config } from "#src/config.ts";
import type { Tx } from "#src/db.ts";
import type { Arrivals } from "#src/domain/decide.ts";
import type { StationState } from "#src/domain/state.ts";
import { type History, loadHistories } from "#src/histories.ts";

/**
 * The station's counted, processed marks and its imports that can still matter. After a lifetime without any, nothing
 * of what came before is left, so the history starts at the last such gap; `whole` takes everything that is kept.
 */
export async function loadHistory(
  tx: Tx,
  stationId: string,
  state: StationState,
  arrivals: Arrivals,
  config: Config,
  whole: boolean,
): Promise<History> {
  const times = [
    ...arrivals.marks.map((mark) => mark.at),
    ...arrivals.seeds.map((seed) => seed.importedAt),
  ];
  const newest = Math.min(...times, state.last?.at ?? Number.POSITIVE_INFINITY);
  if (whole || !Number.isFinite(newest)) return loadSince(tx, stationId, 0);
  for (let depth = 2; ; depth *= 2) {
    const from = newest - depth * config.statusLifetimeMs;
    const history = await loadSince(tx, stationId, from);
    if (hasGap(history, from, config.statusLifetimeMs)) return history;
    if (depth * config.statusLifetimeMs > config.retentionDays * 86_400_000) return history;
  }
}

const loadSince = async (tx: Tx, stationId: string, from: number): Promise<History> =>
  (await loadHistories(tx, [stationId], from, "processed")).get(stationId)!;

function hasGap(history: History, from: number, lifetimeMs: number): boolean {
  const times = [
    from,
    ...history.marks.map((mark) => mark.at),
    ...history.seeds.map((seed) => seed.importedAt),
  ];
  times.sort((a, b) => a - b);
  return (
    times.some((at, index) => index > 0 && at - times[index - 1]! >= lifetimeMs) ||
    times.length === 1
  );
}
