import { decide, type Decision, type Facts } from "#src/domain/decide.ts";
import type { FirstSeen } from "#src/domain/devices.ts";
import { emptyState } from "#src/domain/state.ts";
import { dayMs } from "#src/domain/units.ts";
import type { Config } from "#src/infrastructure/config.ts";
import type { Statements } from "#src/infrastructure/db.ts";
import type { StationFacts } from "#src/marks/facts/station-facts.ts";
import { loadFirstSeen, loadHistories, loadRecent } from "#src/marks/histories.ts";
import { idAfter } from "#src/marks/marks.ts";
import { lastServedUntil } from "#src/marks/stored-runs.ts";

/** The facts of a station that `decideStation` needs. */
type Work = Pick<StationFacts, "stationId" | "facts" | "arrivals" | "refoldFrom">;

/**
 * `decide` for a station as `loadStationFacts` gives it, the same for the marks worker and a dry run. Reads the age of
 * the last served status if it is older than the loaded marks. `firstSeen` and `now` in ms.
 */
export async function decideStation(
  tx: Statements,
  work: Work,
  firstSeen: ReadonlyMap<number, number>,
  now: number,
  config: Config,
): Promise<Decision> {
  const { stationId, arrivals, refoldFrom } = work;
  const facts =
    refoldFrom === null ? work.facts : withoutLaterAge(work.facts, refoldFrom, now, config);
  const seenAt: FirstSeen = (id) => firstSeen.get(id) ?? 0;
  const decision = decide(facts, arrivals, seenAt, now, config);
  if (facts.history === null || decision.state.lastUpdated !== null) return decision;
  // That age is older than the gap at which the history starts, unless all was read or nothing was ever served.
  if (refoldFrom === 0 || work.facts.state.lastUpdated === null) return decision;
  const earlier = await lastUpdatedBefore(tx, work, now, config);
  if (earlier === null) return decision;
  if (earlier !== "unknown") {
    const state = { ...facts.state, lastUpdated: earlier };
    return decide({ ...facts, state }, arrivals, seenAt, now, config);
  }
  const history = (await loadHistories(tx, [stationId], 0, "processed")).get(stationId)!;
  const seenEarlier = await loadFirstSeen(tx, history.marks);
  const seenAll: FirstSeen = (id) => firstSeen.get(id) ?? seenEarlier(id);
  return decide({ ...facts, history }, arrivals, seenAll, now, config);
}

/**
 * The age, ms, of the status that the station served last before all current changes, folded from the marks of that
 * time. Null when it served none before, "unknown" when the runs do not tell.
 */
async function lastUpdatedBefore(
  tx: Statements,
  { stationId, arrivals, refoldFrom }: Work,
  now: number,
  config: Config,
): Promise<number | null | "unknown"> {
  const times = arrivals.marks.map(({ at }) => at);
  const changedFrom = Math.min(refoldFrom ?? Number.POSITIVE_INFINITY, ...times);
  const at = await lastServedUntil(tx, stationId, changedFrom);
  // Runs that are kept for a shorter time than marks do not cover all marks.
  if (at === null) return config.runsDays < config.retentionDays ? "unknown" : null;
  const histories = await loadRecent(tx, [stationId], config, at, {
    changing: new Map([[stationId, at]]),
    which: "processed",
    // A mark is received a lifetime after its moment at the latest.
    until: { at, idBelow: idAfter(at + config.statusLifetimeMs) },
  });
  const history = histories.get(stationId)!;
  const facts = { state: emptyState, opinions: [], history };
  const seenAt = await loadFirstSeen(tx, history.marks);
  return (
    decide(facts, { marks: [], seeds: [] }, seenAt, now, config).state.lastUpdated ?? "unknown"
  );
}

/**
 * A refold must not keep the age of a status that a withdrawn mark had set. An age before `refoldFrom` (ms), or before
 * all kept marks, is certain.
 */
function withoutLaterAge(facts: Facts, refoldFrom: number, now: number, config: Config): Facts {
  const sureUntil = Math.max(refoldFrom, now - config.retentionDays * dayMs);
  const { lastUpdated } = facts.state;
  return lastUpdated === null || lastUpdated < sureUntil
    ? facts
    : { ...facts, state: { ...facts.state, lastUpdated: null } };
}
