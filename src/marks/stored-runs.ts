import { Type } from "typebox";
import type { StationState } from "#src/domain/state.ts";
import { readStored } from "#src/feed/stored-state.ts";
import { type RunsSince, type StatusRun, withTimePassed } from "#src/domain/status-runs.ts";
import { startOfDay } from "#src/domain/time.ts";
import { dayMs } from "#src/domain/units.ts";
import { servedStatuses } from "#src/domain/vocabulary.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { type Db, rows, type Statements } from "#src/infrastructure/db.ts";
import { compileShape, stored } from "#src/infrastructure/quarantine.ts";
import type { History } from "#src/marks/histories.ts";
import { fromMs, msOf } from "#src/marks/marks.ts";
import { noteRewritten, time } from "#src/marks/rewritten-runs.ts";

export type StationRuns = RunsSince & { stationId: string };

/**
 * The time (ms) from which on every counted mark that matters is kept and was read, so that a fold of what was read says
 * what was served. What is stored of the time before it stays as it is.
 */
export function keptWholeSince(
  { marks, isCut }: Pick<History, "marks" | "isCut">,
  now: number,
  config: Config,
): number {
  const kept = now - config.retentionDays * dayMs;
  const oldest = isCut ? Math.min(...marks.map(({ at }) => at)) : kept;
  return Math.max(kept, oldest) + config.statusLifetimeMs;
}

/**
 * Stores what stations served since a moment: the run before it ends or goes on, those after it are replaced, and what
 * is stored so already is not written again. Notes what of it lies before the day of `now` (ms). The stations must be
 * locked.
 */
export async function writeRuns(
  tx: Statements,
  changed: readonly StationRuns[],
  now: number,
): Promise<void> {
  if (changed.length === 0) return;
  const all = changed.flatMap(({ stationId, runs }) => runs.map((run) => ({ stationId, ...run })));
  // Both are sent at once: the transaction may be a pipelined one whose commit is on its way already.
  const noted = noteRewritten(tx, changed, startOfDay(now));
  const written = rows(
    tx,
    `with since as (
       select s.station_id, s.at, before.status, before.from_at
       from (select station_id, ${time("ms")} as at from unnest(?::text[], ?::bigint[]) as u(station_id, ms)) s
       left join lateral (
         select * from (select status, from_at, to_at from status_runs r
           where r.station_id = s.station_id and r.from_at < s.at order by r.from_at desc limit 1) last
         where last.to_at is null or last.to_at >= s.at) before on true
     ), run as (
       -- Without a first one that only goes on with what was served before; nothing served is that, too.
       select new.* from (
         select station_id, status, ${time("from_ms")} as from_at, ${time("to_ms")} as to_at
         from unnest(?::text[], ?::text[], ?::bigint[], ?::bigint[]) as u(station_id, status, from_ms, to_ms)) new
       join since on since.station_id = new.station_id
       where new.from_at > since.at or new.status <> coalesce(since.status, 'nodata')
     ), replaced as (
       delete from status_runs r using since
       where r.station_id = since.station_id and r.from_at >= since.at
         and not exists (select from run where run.station_id = r.station_id and run.from_at = r.from_at)
     ), ended as (
       update status_runs r set to_at = next.from_at
       from since left join (select station_id, min(from_at) as from_at from run group by 1) next
         on next.station_id = since.station_id
       where r.station_id = since.station_id and r.from_at = since.from_at and r.to_at is distinct from next.from_at
     )
     insert into status_runs as r (station_id, status, from_at, to_at)
       select station_id, status, from_at, to_at from run
       on conflict (station_id, from_at) do update set status = excluded.status, to_at = excluded.to_at
       where (r.status, r.to_at) is distinct from (excluded.status, excluded.to_at)`,
    [
      changed.map(({ stationId }) => stationId),
      changed.map(({ since }) => since),
      all.map(({ stationId }) => stationId),
      all.map(({ status }) => status),
      all.map(({ from }) => from),
      all.map(({ to }) => to),
    ],
    "write_runs",
  );
  await Promise.all([noted, written]);
}

const { word, time: ms, orNull } = stored;
const runShape = compileShape(
  Type.Object({ status: word(servedStatuses), from: ms, to: orNull(ms) }),
);

/** A station's runs that had not ended at `since` (ms) and can be read, as they are now; null where there is no such station. */
export async function loadRuns(
  db: Pick<Db, "raw">,
  stationId: string,
  since: number,
  { statusLifetimeMs }: Config,
): Promise<StatusRun[] | null> {
  const [found] = await rows<{
    runs: StatusRun[] | null;
    state: StationState | null;
    now: number;
  }>(
    db,
    `select st.state, ${msOf("server_now()")} as now,
       (select json_agg(json_build_object('status', r.status, 'from', ${msOf("r.from_at")}, 'to', ${msOf("r.to_at")})
          order by r.from_at)
        from status_runs r where r.station_id = s.id and (r.to_at is null or r.to_at > ${fromMs})) as runs
     from stations s left join station_status st on st.station_id = s.id where s.id = ?`,
    [since, stationId],
  );
  if (found === undefined) return null;
  const readable = (found.runs ?? []).filter((run) => runShape(run) === null);
  const { state, fault } = readStored(found.state);
  const runs =
    fault !== null || found.state === null
      ? readable
      : withTimePassed(readable, state, found.now, statusLifetimeMs);
  return runs.filter(({ to }) => to === null || to > since);
}

/** Until when (ms, before `at`) a station served its last status before `at`; null when no run says that it did. */
export async function lastServedUntil(
  tx: Statements,
  stationId: string,
  at: number,
): Promise<number | null> {
  const [run] = await rows<{ until: number | null }>(
    tx,
    `select ${msOf("to_at")} as until from status_runs
     where station_id = ? and from_at < ${fromMs} and status <> 'nodata' order by from_at desc limit 1`,
    [stationId, at],
  );
  // A status ends a lifetime after its last mark: a moment before that, the mark is not yet behind a gap.
  return run === undefined ? null : Math.min((run.until ?? at) - 1, at);
}

const stationsAtOnce = 1000;

/** Deletes the runs that ended before this moment (ms), station by station, so that no index by their ends is needed. */
export async function dropRuns(db: Db, endedBefore: number): Promise<void> {
  for (let after = ""; ;) {
    const [slice] = await rows<{ last: string | null }>(
      db,
      `with slice as (select station_id from station_status where station_id > ? order by 1 limit ${stationsAtOnce}),
       gone as (
         delete from status_runs r using slice
         where r.station_id = slice.station_id and r.from_at < ${fromMs} and r.to_at < ${fromMs})
       select max(station_id) as last from slice`,
      [after, endedBefore, endedBefore],
    );
    if (slice?.last == null) return;
    after = slice.last;
  }
}
