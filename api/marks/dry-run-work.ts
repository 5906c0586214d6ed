import { type Arrivals, type Facts, sortsLast } from "#src/domain/decide.ts";
import type { FirstSeen } from "#src/domain/devices.ts";
import { readStored } from "#src/feed/stored-state.ts";
import { type Mark, type StationState } from "#src/domain/state.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { rows, type Statements } from "#src/infrastructure/db.ts";
import { loadHistory } from "#src/marks/bounded-history.ts";
import { loadFirstSeen } from "#src/marks/histories.ts";
import {
  firstIdOfDay,
  hotMs,
  idAfter,
  markColumns,
  type MarkRow,
  toMark,
  waitingMax,
} from "#src/marks/marks.ts";

/** What `decide` needs to know for tried marks. */
interface DryRunWork {
  stationId: string;
  facts: Facts;
  /** Marks that no worker has come to, then the tried ones. */
  arrivals: Arrivals;
}

interface Row {
  station_id: string;
  state: StationState | null;
  refold: boolean | null;
  opinions: Mark[] | null;
  waiting: MarkRow[] | null;
}

/**
 * The work that the worker (workers/marks/load.ts) would have with these marks, by station, if they were stored: the
 * state and the opinions where they sort last, else the history since the last gap. The whole history of a busy station
 * took up to two seconds of the only thread.
 */
export async function loadDryRunWork(
  tx: Statements,
  tried: ReadonlyMap<string, readonly Mark[]>,
  now: number,
  config: Config,
): Promise<{ work: DryRunWork[]; firstSeen: FirstSeen }> {
  const work: DryRunWork[] = [];
  const reporters = new Set<number>();
  for (const row of await loadRows(tx, [...tried.keys()], now)) {
    const { state, fault } = readStored(row.state);
    const opinions = row.opinions ?? [];
    const waiting = (row.waiting ?? []).map(toMark);
    const arrivals = { marks: [...waiting, ...tried.get(row.station_id)!], seeds: [] };
    const refold = row.refold === true || fault !== null;
    const history =
      !refold && sortsLast(state, arrivals)
        ? null
        : await loadHistory(tx, row.station_id, state, arrivals, config, refold);
    work.push({ stationId: row.station_id, facts: { state, opinions, history }, arrivals });
    for (const { reporterId } of [...opinions, ...waiting, ...(history?.marks ?? [])])
      reporters.add(reporterId);
  }
  return { work, firstSeen: await loadFirstSeen(tx, reporters) };
}

/** Marks that have waited for longer than `hotMs` are of those that the worker looks for seldom. */
const loadRows = (tx: Statements, stationIds: readonly string[], now: number): Promise<Row[]> =>
  rows<Row>(
    tx,
    `select station_id, s.state, s.refold,
       (select json_agg(o.mark) from opinions o where o.station_id = asked.station_id) as opinions,
       (select json_agg(w) from (
          select ${markColumns} from marks
          where station_id = asked.station_id and processed_at is null and failed_at is null
            and review in ('none', 'approved')
            and id >= ${firstIdOfDay(now - hotMs)} and id < ${idAfter(now)}
          order by id limit ${waitingMax}) w) as waiting
     from unnest(?::text[]) as asked (station_id) left join station_status s using (station_id)`,
    [stationIds],
  );
