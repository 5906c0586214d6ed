import { readStored } from "#src/feed/stored-state.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { rows, type Statements } from "#src/infrastructure/db.ts";
import type { IncomingMark } from "#src/domain/admit.ts";
import type { PendingStatus } from "#src/domain/widget-confirmation.ts";
import { sortsLast } from "#src/domain/decide.ts";
import { emptyState, type Mark, type StationState } from "#src/domain/state.ts";
import { loadBefore } from "#src/marks/bounded-history.ts";
import { loadFirstSeen, loadHistories } from "#src/marks/histories.ts";
import {
  firstIdOfDay,
  idAfter,
  markColumns,
  type MarkRow,
  msOf,
  toMark,
  waitingMax,
} from "#src/marks/marks.ts";

interface PendingStatusRow {
  station_id: string;
  state: StationState | null;
  refold: boolean | null;
  opinions: { mark: Mark; seen: number | null }[] | null;
  waiting: (MarkRow & { seen: number | null })[] | null;
}

/** How the stations stand that a mark of the batch confirms, marks included that no worker has come to. */
export async function readPendingStatus(
  tx: Statements,
  batch: readonly IncomingMark[],
  now: number,
  config: Config,
): Promise<Map<string, PendingStatus>> {
  const wanted = [...new Set(batch.flatMap((mark) => (mark.confirms ? mark.stationId : [])))];
  if (wanted.length === 0) return new Map();
  const found = await rows<PendingStatusRow>(
    tx,
    `select wanted.id as station_id, s.state, s.refold,
       (select json_agg(json_build_object('mark', o.mark, 'seen', ${msOf("r.first_seen")}))
        from opinions o join reporters r on r.id = o.reporter_id where o.station_id = wanted.id) as opinions,
       (select json_agg(w) from (
          select ${markColumns}, (select ${msOf("first_seen")} from reporters r where r.id = reporter_id) as seen
          from marks m where m.station_id = wanted.id and processed_at is null and failed_at is null
            and m.id >= ? and m.id < ?
          order by id limit ${waitingMax}) w) as waiting
     from unnest(?::text[]) as wanted(id) left join station_status s on s.station_id = wanted.id`,
    // Marks that no worker has come to are minutes old, not days.
    [firstIdOfDay(now - 2 * config.statusLifetimeMs), idAfter(now), wanted],
  );
  const pendingStatus = new Map<string, PendingStatus>();
  for (const row of found) {
    const { state, fault } = readStored(row.state);
    const waiting = (row.waiting ?? []).map(toMark);
    const observed = batch.flatMap(({ stationId, observedAt }) =>
      stationId === row.station_id && observedAt !== null ? observedAt : [],
    );
    const inOrder = observed.length === 0 && sortsLast(state, { marks: waiting, seeds: [] });
    const earliest = Math.min(
      ...observed,
      ...[state.last ?? [], waiting].flat().map(({ at }) => at),
    );
    pendingStatus.set(
      row.station_id,
      row.refold === true || fault !== null
        ? await readWhole(tx, row.station_id)
        : {
            facts: {
              state,
              opinions: (row.opinions ?? []).map(({ mark }) => mark),
              history: inOrder ? null : await loadBefore(tx, row.station_id, earliest, config),
            },
            waiting,
            firstSeen: seenTimes(row),
            strangers: new Map(),
          },
    );
  }
  for (const { facts, firstSeen } of pendingStatus.values()) {
    const past = new Set(facts.history?.marks.map((mark) => mark.reporterId));
    for (const id of firstSeen.keys()) past.delete(id);
    if (past.size === 0) continue;
    const seenAt = await loadFirstSeen(tx, past);
    for (const id of past) firstSeen.set(id, seenAt(id));
  }
  return pendingStatus;
}

const seenTimes = ({ opinions, waiting }: PendingStatusRow): Map<number, number> =>
  new Map([
    ...(opinions ?? []).map(({ mark, seen }) => [mark.reporterId, seen ?? 0] as const),
    ...(waiting ?? []).map((mark) => [mark.reporter_id, mark.seen ?? 0] as const),
  ]);

/** Where a review has touched the station, all that is kept is folded anew. */
async function readWhole(tx: Statements, stationId: string): Promise<PendingStatus> {
  const histories = await loadHistories(tx, [stationId], 0, "processed and waiting");
  const history = histories.get(stationId)!;
  return {
    facts: { state: emptyState, opinions: [], history },
    waiting: [],
    firstSeen: new Map(),
    strangers: new Map(),
  };
}
