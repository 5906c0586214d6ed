import type { Config } from "#src/config.ts";
import { rows, type Tx } from "#src/db.ts";
import { type Arrivals, type Facts, sortsLast } from "#src/domain/decide.ts";
import { emptyState, type Mark, type StationState } from "#src/domain/state.ts";
import { firstIdOfDay, markColumns, type MarkRow, toMark } from "#src/marks.ts";
import { loadHistory } from "#workers/marks/history.ts";

/** Everything `decide` needs to know about one station. */
export interface StationWork {
  stationId: string;
  facts: Facts;
  arrivals: Arrivals;
}

/** `skip`: leave stations alone that somebody else is at. */
export type Locking = "wait" | "skip";

/**
 * Locks the stations' states, in ascending order as everywhere. Stations that do not exist are left out.
 * What is read about them must be read in a later statement.
 */
export async function lockStations(
  tx: Tx,
  stationIds: readonly string[],
  locking: Locking,
): Promise<string[]> {
  const ids = [...new Set(stationIds)].sort();
  await tx.raw(
    `insert into station_status (station_id)
     select id from stations s where id = any(?::text[]) and not exists (select from station_status st where st.station_id = s.id)
     order by id on conflict do nothing`,
    [ids] as never,
  );
  const locked = await rows<{ station_id: string }>(
    tx,
    `select station_id from station_status where station_id = any(?::text[]) order by station_id
     for no key update ${locking === "skip" ? "skip locked" : ""}`,
    [ids],
  );
  return locked.map((row) => row.station_id);
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
  const unprocessed = await rows<MarkRow>(
    tx,
    `select ${markColumns} from marks
     where station_id = any(?::text[]) and processed_at is null and failed_at is null and id >= ?
       and id = coalesce(?::bigint, id)`,
    [stationIds, firstIdOfDay(scope.since), scope.only ?? null],
  );
  const opinions = await rows<{ station_id: string; mark: Mark }>(
    tx,
    "select station_id, mark from opinions where station_id = any(?::text[])",
    [stationIds],
  );
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
      refold || !sortsLast(state, arrivals)
        ? await loadHistory(tx, stationId, state, arrivals, config, refold)
        : null;
    work.push({ stationId, facts: { state, opinions: known, history }, arrivals });
  }
  return work;
}
