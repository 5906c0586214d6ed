import { Type } from "typebox";
import { emptyState, type StationState } from "#src/domain/state.ts";
import { readStored } from "#src/feed/feed.ts";
import { runsOfRefold, type RunsSince, type StatusRun, withTimePassed } from "#src/domain/view.ts";
import { startOfDay } from "#src/domain/time.ts";
import { dayMs } from "#src/domain/units.ts";
import { servedStatuses } from "#src/domain/vocabulary.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { type Db, inTransaction, rows, type Statements } from "#src/infrastructure/db.ts";
import { columnsOf, slices } from "#src/infrastructure/lists.ts";
import { compileShape, stored } from "#src/infrastructure/quarantine.ts";
import { type History, loadFirstSeen, loadHistories } from "#src/marks/histories.ts";
import { fromMs, msOf } from "#src/marks/marks.ts";
import type { Refusal } from "#src/contract/refusals.ts";
import { decide } from "#src/domain/decide.ts";
import { lockStations } from "#src/infrastructure/locks.ts";
import { act, unknown } from "#src/operators/act.ts";

/** SQL of the time in a column of ms. */
const timeOf = (column: string): string => `timestamptz 'epoch' + ${column} * interval '1 ms'`;

export type StationRuns = RunsSince & { stationId: string };

/**
 * The time (ms) from which all relevant counted marks are kept and were read, so that their fold gives the served
 * statuses. The stored runs before it stay as they are.
 */
export function keptWholeSince(
  { cutAt }: Pick<History, "cutAt">,
  now: number,
  config: Config,
): number {
  const kept = now - config.retentionDays * dayMs;
  return Math.max(kept, cutAt ?? kept) + config.statusLifetimeMs;
}

/**
 * Stores the runs of stations since a moment: the run before it ends or continues, later ones are replaced, and equal
 * ones are not written again. Notes changes before the day of `now` (ms). The stations must be locked.
 */
export async function writeRuns(
  tx: Statements,
  changed: readonly StationRuns[],
  now: number,
): Promise<void> {
  if (changed.length === 0) return;
  const all = changed.flatMap(({ stationId, runs }) => runs.map((run) => ({ stationId, ...run })));
  // Both are sent at once, because the commit of a pipelined transaction may follow directly.
  const noted = noteRewritten(tx, changed, startOfDay(now));
  const ids = changed.map(({ stationId }) => stationId);
  const written = rows(
    tx,
    `with since as (
       select s.station_id, s.at, before.status, before.from_at
       from (select station_id, ${timeOf("ms")} as at from unnest(?::text[], ?::bigint[]) as u(station_id, ms)) s
       left join lateral (
         select * from (select status, from_at, to_at from status_runs r
           where r.station_id = s.station_id and r.from_at < s.at order by r.from_at desc limit 1) last
         where last.to_at is null or last.to_at >= s.at) before on true
     ), run as (
       -- Without a first one that only goes on with what was served before; nothing served is that, too.
       select new.* from (
         select station_id, status, ${timeOf("from_ms")} as from_at, ${timeOf("to_ms")} as to_at
         from unnest(?::text[], ?::text[], ?::bigint[], ?::bigint[]) as u(station_id, status, from_ms, to_ms)) new
       join since on since.station_id = new.station_id
       where new.from_at > since.at or new.status <> coalesce(since.status, 'nodata')
     ), replaced as (
       delete from status_runs r using since
       -- The list keeps a plan that was made while the table was empty from reading all of it.
       where r.station_id = since.station_id and r.station_id = any(?::text[]) and r.from_at >= since.at
         and not exists (select from run where run.station_id = r.station_id and run.from_at = r.from_at)
     ), ended as (
       update status_runs r set to_at = next.from_at
       from since left join (select station_id, min(from_at) as from_at from run group by 1) next
         on next.station_id = since.station_id
       where r.station_id = since.station_id and r.station_id = any(?::text[]) and r.from_at = since.from_at
         and r.to_at is distinct from next.from_at
     )
     insert into status_runs as r (station_id, status, from_at, to_at)
       select station_id, status, from_at, to_at from run
       on conflict (station_id, from_at) do update set status = excluded.status, to_at = excluded.to_at
       where (r.status, r.to_at) is distinct from (excluded.status, excluded.to_at)`,
    [
      ...columnsOf(changed, "stationId", "since"),
      ...columnsOf(all, "stationId", "status", "from", "to"),
      ...[ids, ids],
    ],
    "write_runs",
  );
  await Promise.all([noted, written]);
}

/**
 * Notes the time from which the new runs differ from the stored ones before `today` (ms), if they do, so that the
 * insights of those days are counted anew (decisions 7.45). Send it before the runs are written, in their transaction.
 * Nearly every mark changes only today and costs nothing here.
 */
async function noteRewritten(
  tx: Statements,
  changed: readonly StationRuns[],
  today: number,
): Promise<void> {
  const past = changed.filter(({ since, changesFrom = since }) => changesFrom < today);
  if (past.length === 0) return;
  const all = past.flatMap(({ stationId, runs }) => runs.map((run) => ({ stationId, ...run })));
  await rows(
    tx,
    `with since as (
       select station_id, ${timeOf("ms")} as at from unnest(?::text[], ?::bigint[]) as u(station_id, ms)
     ), fresh as (
       select station_id, status, ${timeOf("from_ms")} as from_at
       from unnest(?::text[], ?::text[], ?::bigint[]) as u(station_id, status, from_ms)
     ), point as (
       -- Between these moments neither what was stored nor what comes changes.
       select station_id, at from since
       union select station_id, from_at from fresh
       union select r.station_id, r.from_at from status_runs r join since s on s.station_id = r.station_id and r.from_at > s.at
     ), after as (
       select distinct on (p.station_id, p.at) p.station_id, p.at, f.status
       from point p left join fresh f on f.station_id = p.station_id and f.from_at <= p.at
       order by p.station_id, p.at, f.from_at desc
     )
     insert into rewritten_runs (since)
       select min(a.at) from after a left join lateral (
         select status from status_runs r where r.station_id = a.station_id and r.from_at <= a.at
         order by r.from_at desc limit 1) before on true
       where coalesce(before.status, 'nodata') <> coalesce(a.status, 'nodata')
       having min(a.at) < ${fromMs}`,
    [
      ...columnsOf(past, "stationId", "since"),
      ...columnsOf(all, "stationId", "status", "from"),
      today,
    ],
  );
}

/** Notes that all days must be counted anew. */
export async function noteAllRewritten(tx: Statements): Promise<void> {
  await rows(tx, "insert into rewritten_runs (since) values (timestamptz 'epoch')");
}

/** Deletes the notes; gives their earliest moment (ms), null without one. */
export async function takeRewritten(tx: Statements): Promise<number | null> {
  const [noted] = await rows<{ since: number | null }>(
    tx,
    `with taken as (delete from rewritten_runs returning since) select ${msOf("min(since)")} as since from taken`,
  );
  return noted?.since ?? null;
}

const { word, time: ms, orNull } = stored;
const runShape = compileShape(
  Type.Object({ status: word(servedStatuses), from: ms, to: orNull(ms) }),
);

/** A station's readable runs that had not ended at `since` (ms), as of now; null for an unknown station. */
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

/** The end (ms, before `at`) of the last status that a station served before `at`; null without such a run. */
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
  // A status ends a lifetime after its last mark; 1 ms before its end no gap separates the mark yet.
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

const rebuiltAtOnce = 50;
const triesMax = 10;

export interface Rebuilt {
  stations: number;
  /** Stations that got marks at each try; their runs are unchanged. */
  busy: string[];
}

/**
 * Computes the status runs (decisions 2.36) anew from all kept marks and imports, of one station or of all. It writes
 * only differences, so it may run again, and beside running workers: a station is locked only to write, and one that
 * has changed since its marks were read is read again.
 */
export async function rebuildRuns(
  db: Db,
  actor: string,
  config: Config,
  only: string | undefined,
  progress: (done: number, total: number) => void,
): Promise<Rebuilt | Refusal> {
  const all = await rows<{ id: string }>(
    db,
    "select station_id as id from station_status where station_id = coalesce(?, station_id) order by 1",
    [only ?? null],
  );
  if (only !== undefined && all.length === 0) {
    const known = await rows(db, "select id from stations where id = ?", [only]);
    if (known.length === 0) return unknown("station", only);
  }
  const busy: string[] = [];
  let done = 0;
  for (const slice of slices(all, rebuiltAtOnce)) {
    let left = slice.map(({ id }) => id);
    for (let tries = 0; tries < triesMax && left.length > 0; tries += 1)
      left = await rebuildSome(db, left, config);
    busy.push(...left);
    progress((done += slice.length), all.length);
  }
  const value = { stations: all.length - busy.length, busy };
  const details = { stations: value.stations, busy: busy.length };
  const subject = only === undefined ? "all stations" : `station ${only}`;
  return act(db, actor, async () => ({ value, action: "runs.rebuild", subject, details }));
}

/** Gives the stations that changed meanwhile. */
async function rebuildSome(
  db: Db,
  stationIds: readonly string[],
  config: Config,
): Promise<string[]> {
  // Read before the marks, so that a change of them in between shows.
  const versions = await readVersions(db, stationIds);
  const histories = await loadHistories(db, stationIds, 0, "processed");
  const reporters = [...histories.values()].flatMap(({ marks }) => marks);
  const seen = await loadFirstSeen(db, reporters);
  const rebuilt = [...versions].map(([stationId, { now }]): StationRuns => {
    const history = histories.get(stationId)!;
    const facts = { state: emptyState, opinions: [], history };
    const { states } = decide(facts, { marks: [], seeds: [] }, seen, now, config);
    const since = keptWholeSince(history, now, config);
    const whole = { saved: emptyState, states, from: 0 };
    const runs = runsOfRefold(whole, since, now, config.statusLifetimeMs);
    // Noted as a whole below: finding the differences would cost more than making the days anew.
    return { stationId, ...runs, changesFrom: Infinity };
  });
  return inTransaction(db, async (tx) => {
    await lockStations(tx, stationIds, "wait");
    const present = await readVersions(tx, stationIds);
    const isSame = (id: string): boolean => present.get(id)?.version === versions.get(id)?.version;
    await noteAllRewritten(tx);
    await writeRuns(
      tx,
      rebuilt.filter(({ stationId }) => isSame(stationId)),
      0,
    );
    return stationIds.filter((id) => !isSame(id));
  });
}

/** A version that changes with each fold of a station, and the database's time, ms. */
async function readVersions(
  db: Pick<Db, "raw">,
  stationIds: readonly string[],
): Promise<Map<string, { version: string; now: number }>> {
  const found = await rows<{ id: string; version: string; now: number }>(
    db,
    `select station_id as id, updated_at::text as version, ${msOf("server_now()")} as now
     from station_status where station_id = any(?::text[])`,
    [stationIds],
  );
  return new Map(found.map(({ id, ...row }) => [id, row]));
}
