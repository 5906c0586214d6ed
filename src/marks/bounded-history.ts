import type { Arrivals } from "#src/domain/decide.ts";
import type { StationState } from "#src/domain/state.ts";
import { dayMs } from "#src/domain/units.ts";
import type { Config } from "#src/infrastructure/config.ts";
import type { Statements } from "#src/infrastructure/db.ts";
import { type History, loadHistories, refoldMarks } from "#src/marks/histories.ts";

/**
 * The station's counted, processed marks and its imported statuses that can still matter. After a lifetime without any
 * of them nothing before is alive, so the history starts at the last such gap. `whole` takes everything in the database.
 * Never more than the newest `max` marks.
 */
export async function loadHistory(
  tx: Statements,
  stationId: string,
  state: StationState,
  arrivals: Arrivals,
  config: Config,
  whole: boolean,
  max = refoldMarks,
): Promise<History> {
  const times = [
    ...arrivals.marks.map((mark) => mark.at),
    ...arrivals.seeds.map((seed) => seed.importedAt),
  ];
  const newest = Math.min(...times, state.last?.at ?? Number.POSITIVE_INFINITY);
  if (whole || !Number.isFinite(newest)) return loadSince(tx, stationId, 0, max);
  return loadBefore(tx, stationId, newest, config, max);
}

/** The same for marks and imports of which the earliest comes in at `newest`, ms, or of which the last came in then. */
export async function loadBefore(
  tx: Statements,
  stationId: string,
  newest: number,
  config: Config,
  max = refoldMarks,
): Promise<History> {
  for (let depth = 2; ; depth *= 2) {
    const from = newest - depth * config.statusLifetimeMs;
    const history = await loadSince(tx, stationId, from, max);
    const knownFrom = history.isCut ? history.marks.at(-1)!.at : from;
    const relevant = afterGap(history, knownFrom, newest, config.statusLifetimeMs);
    if (relevant !== null) return relevant;
    if (history.isCut || depth * config.statusLifetimeMs > config.retentionDays * dayMs)
      return history;
  }
}

const loadSince = async (
  tx: Statements,
  stationId: string,
  from: number,
  max: number,
): Promise<History> =>
  (await loadHistories(tx, [stationId], from, "processed", max)).get(stationId)!;

/**
 * The history after the last gap of a lifetime before `newest`, where the refold begins; null without such a gap. A gap
 * after `newest` is of no use: the marks before it still matter to the mark at `newest`.
 */
export function afterGap(
  history: Pick<History, "marks" | "seeds">,
  from: number,
  newest: number,
  lifetimeMs: number,
): History | null {
  const times = [
    from,
    ...history.marks.map((mark) => mark.at),
    ...history.seeds.map((seed) => seed.importedAt),
  ].filter((at) => at < newest);
  times.sort((a, b) => a - b).push(newest);
  const end = times.findLast((at, index) => index > 0 && at - times[index - 1]! >= lifetimeMs);
  if (end === undefined) return null;
  return {
    marks: history.marks.filter((mark) => mark.at >= end),
    seeds: history.seeds.filter((seed) => seed.importedAt >= end),
    isCut: false,
  };
}
