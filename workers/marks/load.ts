import type { Config } from "#src/config.ts";
import { rows, type Tx } from "#src/db.ts";
import { type Arrivals, type Facts, sortsLast } from "#src/domain/decide.ts";
import { emptyState, type Mark, type StationState } from "#src/domain/state.ts";
import { firstIdOfDay, markColumns, type MarkRow, toMark } from "#src/marks.ts";
import { loadHistories } from "#src/histories.ts";
import { loadHistory } from "#workers/marks/history.ts";

/** Everything `decide` needs to know about one station. */
export interface StationWork {
  stationId: string;
  facts: Facts;
  arrivals: Arrivals;
  /** A review, a rollback or an import touched it: `facts.history` is all that is kept. */
  refold: boolean;
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
): Promise<StationWork[]> {
  const states = await rows<{ station_id: string; state: StationState | null; refold: boolean }>(
    tx,
    "select station_id, state, refold from station_status where station_id = any(?::text[]) order by station_id",
    [stationIds],
  );
  const touched = states.filter((row) => row.refold).map((row) => row.station_id);
  // A mark that was approved after days lies in an old partition.
  const since = touched.length > 0 ? 0 : scope.since;
  const unprocessed = await rows<MarkRow>(
    tx,
    `select ${markColumns} from marks
     where station_id = any(?::text[]) and processed_at is null and failed_at is null and id >= ?
       and id = coalesce(?::bigint, id)`,
    [stationIds, firstIdOfDay(since), scope.only ?? null],
  );
  const opinions = await rows<{ station_id: string; mark: Mark }>(
    tx,
    "select station_id, mark from opinions where station_id = any(?::text[])",
    [stationIds],
  );
  const whole = await loadHistories(tx, touched, 0, "processed");
  const work: StationWork[] = [];
  for (const { station_id: stationId, state: saved, refold } of states) {
    const state = saved ?? emptyState;
    const arrivals = {
      marks: unprocessed.filter((row) => row.station_id === stationId).map(toMark),
      seeds: [],
    };
    if (arrivals.marks.length === 0 && !refold) continue;
    const known = opinions.filter((row) => row.station_id === stationId).map((row) => row.mark);
    const history =
      whole.get(stationId) ??
      (sortsLast(state, arrivals)
        ? null
        : await loadHistory(tx, stationId, state, arrivals, config, false));
    work.push({ stationId, facts: { state, opinions: known, history }, arrivals, refold });
  }
  return work;
}
