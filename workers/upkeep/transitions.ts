import { inTransaction, rows, type Tx } from "#src/infrastructure/db.ts";
import { columnsOf } from "#src/infrastructure/lists.ts";
import { lockIds } from "#src/infrastructure/locks.ts";
import type { StationState } from "#src/domain/state.ts";
import { statusAt, statusRuns, transitions } from "#src/domain/view.ts";
import type { ServedStatus } from "#src/domain/vocabulary.ts";
import { msOf } from "#src/marks/marks.ts";
import { type StationRuns, writeRuns } from "#src/marks/stored-runs.ts";
import type { Log } from "#src/infrastructure/log.ts";
import { readStored } from "#src/feed/feed.ts";
import type { RoleDeps } from "#workers/role.ts";

const batch = 1000;

interface DueRow {
  station_id: string;
  state: unknown;
  /** The status in the row, and the time from which it may be wrong, ms. */
  status: ServedStatus;
  since: number;
  now: number;
}

/**
 * Writes changes by the passing of time into the rows: expired statuses become `nodata`, disputes end, and status runs
 * end and begin at the times of these changes, even if this runs late. The folded state itself stays, so that a
 * later reader still knows the time of each change. Readers compute the same changes themselves, on time. Returns the
 * number of stations.
 */
export async function settleTransitions({
  db,
  config,
  log,
}: Pick<RoleDeps, "db" | "config" | "log">): Promise<number> {
  for (let total = 0; ;) {
    const settled = await inTransaction(db, async (tx) => {
      const found = await rows<DueRow>(
        tx,
        `select station_id, state, status, ${msOf("coalesce(nullif(next_at, '-infinity'), server_now())")} as since, ${msOf("server_now()")} as now
         from station_status
         where next_at <= server_now() order by station_id limit ${batch} for no key update skip locked`,
      );
      const read = found.map((row) => ({ ...row, ...readStored(row.state) }));
      await askFolds(
        tx,
        log,
        read.filter(({ fault }) => fault !== null),
      );
      const due = read.filter(({ fault }) => fault === null);
      const next = due.map(
        ({ state, now }) =>
          transitions(state, config.statusLifetimeMs).find((at) => at > now) ?? null,
      );
      await tx.raw(
        `update station_status st set status = d.status, updated_at = server_now(),
           next_at = timestamptz 'epoch' + d.next * interval '1 ms'
         from unnest(?::text[], ?::text[], ?::bigint[]) as d(station_id, status, next) where st.station_id = d.station_id`,
        [
          due.map((row) => row.station_id),
          due.map((row) => statusAt(row.state, row.now, config.statusLifetimeMs)),
          next,
        ] as never,
      );
      await writeRuns(
        tx,
        due.flatMap((row) => runsOf(row, config.statusLifetimeMs)),
        due[0]?.now ?? 0,
      );
      await noteTimeChanges(tx, due);
      return found.length;
    });
    total += settled;
    if (settled < batch) return total;
  }
}

/** Unreadable states have no known changes by time: they are made anew, and until then nothing is due. */
async function askFolds(tx: Tx, log: Log, unreadable: readonly DueRow[]): Promise<void> {
  if (unreadable.length === 0) return;
  const ids = unreadable.map(({ station_id }) => station_id);
  log.warn({ stations: ids.length }, "states cannot be read, to be made anew from the marks");
  const sql =
    "update station_status set refold = true, next_at = null where station_id = any(?::text[])";
  await rows(tx, sql, [ids]);
}

/** Numbers these stations for webhooks, in commit order: the lock lasts until the commit, as the change feed's. */
async function noteTimeChanges(tx: Tx, due: readonly DueRow[]): Promise<void> {
  if (due.length === 0) return;
  await rows(tx, `select pg_advisory_xact_lock(${lockIds.timeChanges})`);
  await rows(
    tx,
    `insert into time_changes (station_id, seq, at)
     select id, nextval('time_change_seq'), timestamptz 'epoch' + since * interval '1 ms'
     from unnest(?::text[], ?::bigint[]) as d(id, since)
     on conflict (station_id) do update set seq = excluded.seq, at = excluded.at`,
    columnsOf(due, "station_id", "since"),
  );
}

/** The runs of a due station; none if only a price or a pending status has ended. */
function runsOf(
  { station_id: stationId, state, status, since, now }: DueRow & { state: StationState },
  lifetimeMs: number,
): StationRuns[] {
  const runs = statusRuns({ before: state, states: [] }, since, now, lifetimeMs);
  return runs.length === 1 && runs[0]!.status === status ? [] : [{ stationId, since, runs }];
}
