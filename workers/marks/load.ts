import type { Config } from "#src/config.ts";
import { rows, type Tx } from "#src/db.ts";
import { type Arrivals, type Facts, sortsLast } from "#src/domain/decide.ts";
import { emptyState, type Mark, type StationState } from "#src/domain/state.ts";
import type { FirstSeen } from "#src/domain/devices.ts";
import { loadFirstSeen, loadHistories } from "#src/histories.ts";
import { firstIdOfDay, idAfter, markColumns, type MarkRow, msOf, toMark } from "#src/marks.ts";
import { loadHistory } from "#workers/marks/history.ts";

/** Everything `decide` needs to know about one station. */
export interface StationWork {
  stationId: string;
  facts: Facts;
  arrivals: Arrivals;
  /** A review, a rollback or an import touched it: `facts.history` is all that is kept. */
  refold: boolean;
}

export interface Loaded {
  work: StationWork[];
  firstSeen: FirstSeen;
  /** The database's time, ms, not before any of the marks. */
  now: number;
}

interface StateRow {
  station_id: string;
  state: StationState | null;
  refold: boolean;
  opinions: { mark: Mark; seen: number | null }[] | null;
  now: number;
}

/**
 * What is to be done at the locked stations: their unprocessed marks received since `since` (ms), or `only` one, and, where one of
 * them does not sort last or a review or an import asks for it, the history.
 */
export async function loadWork(
  tx: Tx,
  stationIds: readonly string[],
  scope: { since: number; only?: number },
  config: Config,
): Promise<Loaded> {
  const states = await rows<StateRow>(
    tx,
    `select s.station_id, s.state, s.refold, ${msOf("server_now()")} as now,
       (select json_agg(json_build_object('mark', o.mark, 'seen', ${msOf("r.first_seen")}))
        from opinions o join reporters r on r.id = o.reporter_id where o.station_id = s.station_id) as opinions
     from station_status s where s.station_id = any(?::text[]) order by s.station_id`,
    [stationIds],
  );
  const touched = states.filter((row) => row.refold).map((row) => row.station_id);
  // A mark that was approved after days lies in an old partition.
  const since = touched.length > 0 ? 0 : scope.since;
  const readAt = Math.max(...states.map((row) => row.now));
  const unprocessed = await rows<MarkRow & { seen: number | null }>(
    tx,
    `select ${markColumns}, (select ${msOf("first_seen")} from reporters r where r.id = reporter_id) as seen from marks
     where station_id = any(?::text[]) and processed_at is null and failed_at is null and id >= ? and id < ?
       and id = coalesce(?::bigint, id)`,
    [stationIds, firstIdOfDay(since), idAfter(readAt), scope.only ?? null],
  );
  const whole = await loadHistories(tx, touched, 0, "processed");
  const work: StationWork[] = [];
  const seen = new Map(unprocessed.map((row) => [row.reporter_id, row.seen]));
  for (const { station_id: stationId, state: saved, refold, opinions } of states) {
    const state = saved ?? emptyState;
    const arrivals = {
      marks: unprocessed.filter((row) => row.station_id === stationId).map(toMark),
      seeds: [],
    };
    if (arrivals.marks.length === 0 && !refold) continue;
    const known = (opinions ?? []).map((row) => row.mark);
    for (const { mark, seen: at } of opinions ?? []) seen.set(mark.reporterId, at);
    const history =
      whole.get(stationId) ??
      (sortsLast(state, arrivals)
        ? null
        : await loadHistory(tx, stationId, state, arrivals, config, false));
    work.push({ stationId, facts: { state, opinions: known, history }, arrivals, refold });
  }
  const past = work.flatMap(({ facts }) => facts.history?.marks ?? []);
  const ofHistory = past.length > 0 ? await loadFirstSeen(tx, reportersOf(past)) : null;
  return {
    work,
    firstSeen: (id) => (seen.has(id) ? (seen.get(id) ?? 0) : (ofHistory?.(id) ?? 0)),
    // A mark may have come in between the two statements.
    now: Math.max(readAt, ...unprocessed.map((row) => row.at)),
  };
}

const reportersOf = (marks: readonly Mark[]): Set<number> =>
  new Set(marks.map((mark) => mark.reporterId));
