import type { Mark, Seed } from "#src/domain/state.ts";
import { dayMs } from "#src/domain/units.ts";
import type { Config } from "#src/infrastructure/config.ts";
import type { Statements } from "#src/infrastructure/db.ts";
import { type History, loadHistories, type Reached, type Reads } from "#src/marks/histories.ts";

/** Lifetimes that are looked back at first, and how many times as many then. */
const firstLook = 4;
const furtherBy = 4;

/** Which marks are read. `changing`: from when on (ms, by station) marks are still to come in or to go. */
interface RecentReads extends Reads {
  changing?: ReadonlyMap<string, number>;
  which?: Reached;
}

/**
 * The marks and imports of each station that can still matter: the newest, back to the last gap of a lifetime before them
 * and before `changing`, where nothing before is alive; when they served a status last is not in them. Looks back farther
 * and farther from `now` (ms), and into all days only for stations that need them: each day is a partition
 * (decisions 16.25). Never more than the newest `max` marks.
 */
export async function loadRecent(
  tx: Statements,
  stationIds: readonly string[],
  { statusLifetimeMs, retentionDays }: Pick<Config, "statusLifetimeMs" | "retentionDays">,
  now: number,
  { changing, which = "processed and waiting", ...reads }: RecentReads = {},
): Promise<Map<string, History>> {
  const recent = new Map<string, History>();
  let rest = stationIds;
  for (let depth = firstLook; rest.length > 0; depth *= furtherBy) {
    const isWhole = depth * statusLifetimeMs > retentionDays * dayMs;
    const from = isWhole ? 0 : now - depth * statusLifetimeMs;
    for (const [id, history] of await loadHistories(tx, rest, from, which, reads)) {
      const times = [
        ...history.marks.map((mark) => mark.at),
        ...history.seeds.map((seed) => seed.importedAt),
      ];
      const change = changing?.get(id) ?? Number.POSITIVE_INFINITY;
      const newest = times.length === 0 ? change : Math.min(Math.max(...times), change);
      const knownFrom = history.isCut ? history.marks.at(-1)!.at : from;
      const recently = Number.isFinite(newest)
        ? afterGap(history, knownFrom, newest, statusLifetimeMs)
        : null;
      const enough = recently ?? (isWhole || history.isCut ? history : null);
      if (enough !== null) recent.set(id, enough);
    }
    rest = rest.filter((id) => !recent.has(id));
  }
  return recent;
}

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
