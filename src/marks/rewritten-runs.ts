import type { RunsSince } from "#src/domain/status-runs.ts";
import { rows, type Statements } from "#src/infrastructure/db.ts";
import { fromMs, msOf } from "#src/marks/marks.ts";

/** SQL of the time whose ms are in that column. */
export const time = (column: string): string => `timestamptz 'epoch' + ${column} * interval '1 ms'`;

/**
 * Notes from when on these stations served something else before `today` (ms) than is stored, if they did, so that the
 * insights of those days are counted anew (decisions 7.45). To be sent before the runs are written, in their
 * transaction. Nearly every mark changes today alone and costs nothing here.
 */
export async function noteRewritten(
  tx: Statements,
  changed: readonly (RunsSince & { stationId: string })[],
  today: number,
): Promise<void> {
  const past = changed.filter(({ since, changesFrom = since }) => changesFrom < today);
  if (past.length === 0) return;
  const all = past.flatMap(({ stationId, runs }) => runs.map((run) => ({ stationId, ...run })));
  await rows(
    tx,
    `with since as (
       select station_id, ${time("ms")} as at from unnest(?::text[], ?::bigint[]) as u(station_id, ms)
     ), fresh as (
       select station_id, status, ${time("from_ms")} as from_at
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
      past.map(({ stationId }) => stationId),
      past.map(({ since }) => since),
      all.map(({ stationId }) => stationId),
      all.map(({ status }) => status),
      all.map(({ from }) => from),
      today,
    ],
  );
}

/** Notes that all days are to be counted anew. */
export async function noteAllRewritten(tx: Statements): Promise<void> {
  await rows(tx, "insert into rewritten_runs (since) values (timestamptz 'epoch')");
}

/** Forgets what was noted; answers the earliest moment of it (ms), null when nothing was. */
export async function takeRewritten(tx: Statements): Promise<number | null> {
  const [noted] = await rows<{ since: number | null }>(
    tx,
    `with taken as (delete from rewritten_runs returning since) select ${msOf("min(since)")} as since from taken`,
  );
  return noted?.since ?? null;
}
