import type { Arrivals } from "#src/domain/decide.ts";
import type { Mark, Seed, StationState } from "#src/domain/state.ts";
import { dayMs } from "#src/domain/units.ts";
import type { Config } from "#src/infrastructure/config.ts";
import type { Statements } from "#src/infrastructure/db.ts";
import {
  type History,
  loadHistories,
  type Reached,
  type Reads,
  refoldMarks,
} from "#src/marks/histories.ts";
import { idAfter } from "#src/marks/marks.ts";

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

/**
 * The history of the status that a station served until that moment (ms): its marks and imports up to then, back to the
 * last gap of a lifetime. Whatever came later is not read.
 */
export async function loadUntil(
  tx: Statements,
  stationId: string,
  at: number,
  config: Config,
): Promise<History> {
  const { statusLifetimeMs } = config;
  // A mark is received a lifetime after its moment at the latest.
  const until = { at, idBelow: idAfter(at + statusLifetimeMs) };
  for (let depth = 2; ; depth *= 2) {
    const from = at - depth * statusLifetimeMs;
    const found = await loadHistories(tx, [stationId], from, "processed", { until });
    const history = found.get(stationId)!;
    const relevant = afterGap(history, from, at, statusLifetimeMs);
    if (relevant !== null) return relevant;
    if (history.isCut || depth * statusLifetimeMs > config.retentionDays * dayMs) return history;
  }
}

/** Lifetimes that are looked back at first, and how many times as many then. */
const firstLook = 4;
const furtherBy = 4;

/**
 * The histories of stations that are folded for what they serve now; when they served a status last is not in them. Of
 * each station its newest marks and imports, back to the last gap of a lifetime before them, and before `changing` (ms by
 * station) where marks are still to come in or to go. Looks back farther and farther, and into all days only for stations
 * that need them: each day is a partition (decisions 16.25). `now` in ms.
 */
export async function loadRecent(
  tx: Statements,
  stationIds: readonly string[],
  { statusLifetimeMs, retentionDays }: Pick<Config, "statusLifetimeMs" | "retentionDays">,
  now: number,
  changing: ReadonlyMap<string, number> = new Map(),
  which: Reached = "processed and waiting",
  reads: Reads = {},
): Promise<Map<string, History>> {
  const recent = new Map<string, History>();
  let rest = stationIds;
  for (let depth = firstLook; rest.length > 0; depth *= furtherBy) {
    const isWhole = depth * statusLifetimeMs > retentionDays * dayMs;
    const from = isWhole ? 0 : now - depth * statusLifetimeMs;
    const found = await loadHistories(tx, rest, from, which, reads);
    for (const [id, history] of found) {
      const times = [
        ...history.marks.map((mark) => mark.at),
        ...history.seeds.map((seed) => seed.importedAt),
      ];
      const change = changing.get(id) ?? Number.POSITIVE_INFINITY;
      const newest = times.length === 0 ? change : Math.min(Math.max(...times), change);
      const enough =
        isWhole || history.isCut
          ? history
          : Number.isFinite(newest)
            ? afterGap(history, from, newest, statusLifetimeMs)
            : null;
      if (enough !== null) recent.set(id, enough);
    }
    rest = rest.filter((id) => !recent.has(id));
  }
  return recent;
}

const loadSince = async (
  tx: Statements,
  stationId: string,
  from: number,
  max: number,
): Promise<History> =>
  (await loadHistories(tx, [stationId], from, "processed", { max })).get(stationId)!;

/**
 * The history after the last gap of a lifetime before `newest`, where the refold begins; null without such a gap. A gap
 * after `newest` is of no use: the marks before it still matter to the mark at `newest`.
 */
export function afterGap(
  history: { marks: readonly Mark[]; seeds: readonly Seed[] },
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
    ...history,
    marks: history.marks.filter((mark) => mark.at >= end),
    seeds: history.seeds.filter((seed) => seed.importedAt >= end),
    isCut: false,
  };
}
