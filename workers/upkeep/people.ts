import { formatTime } from "#src/domain/time.ts";
import { dayMs } from "#src/domain/units.ts";
import { type Db, inTransaction, rows } from "#src/infrastructure/db.ts";
import { lockIntake } from "#src/infrastructure/locks.ts";
import { dayOfId, firstIdOfDay } from "#src/marks/marks.ts";
import type { RoleDeps } from "#workers/role.ts";

type Deps = Pick<RoleDeps, "db" | "config" | "clock" | "log">;

/** Rows that one statement takes. */
const takenAtOnce = 2000;

/**
 * Clears positions and comments of the marks of each day older than POSITION_DAYS (decisions 19.9), some marks at a
 * time. A finished day is not read again; an interrupted one starts anew.
 */
export async function clearOldMarks(
  { db, config, clock, log }: Deps,
  atOnce = takenAtOnce,
): Promise<void> {
  for (const day of await daysToClear(db, clock() - config.positionDays * dayMs)) {
    await clearDay(db, day, config.statusLifetimeMs, atOnce);
    const note = "insert into cleared_days (day) values (date '1970-01-01' + ?::int)";
    await rows(db, `${note} on conflict do nothing`, [day]);
    log.info(
      { day: formatTime(day * dayMs).slice(0, 10) },
      "positions and comments of the day cleared",
    );
  }
}

/** The days with marks before that of `ms` that were not cleared yet, and those between, numbers since the epoch. */
export async function daysToClear(db: Db, ms: number): Promise<number[]> {
  const sql = "select max(day) - date '1970-01-01' as day from cleared_days";
  const [cleared] = await rows<{ day: number | null }>(db, sql);
  const from = firstIdOfDay(((cleared!.day ?? -1) + 1) * dayMs);
  const [left] = await rows<{ first: number | null; last: number | null }>(
    db,
    `select min(id) as first, max(id) as last from marks where id >= ${from} and id < ${firstIdOfDay(ms)}`,
  );
  if (left!.first === null) return [];
  const [first, last] = [left!.first, left!.last!].map((id) => dayOfId(id) / dayMs) as [
    number,
    number,
  ];
  return Array.from({ length: last - first + 1 }, (_, n) => first + n);
}

/**
 * Keeps the hash of a viewer's network if another person of that network has marked the station within the life of a
 * mark: a later fold needs it to count both as one device.
 */
async function clearDay(db: Db, day: number, lifetimeMs: number, atOnce: number): Promise<void> {
  // A counted mark is received at most a lifetime after its effective time.
  const reach = Math.ceil((2 * lifetimeMs) / dayMs) + 1;
  const bound = (days: number): number => firstIdOfDay((day + days) * dayMs);
  for (let last: number | null = bound(0) - 1; last !== null;) {
    const [taken]: { last: number | null }[] = await rows<{ last: number | null }>(
      db,
      `with taken as materialized (
         select id from marks where id > ? and id >= ${bound(0)} and id < ${bound(1)} order by id limit ? for update
       ), cleared as (
         update marks m set lat = null, lon = null, acc_m = null, comment = null,
           viewer = case when processed_at is null or exists (
             select from marks o where o.station_id = m.station_id and o.viewer = m.viewer
               and o.reporter_id <> m.reporter_id and o.id >= ${bound(-reach)} and o.id < ${bound(1 + reach)}
               and o.effective_at between m.effective_at - interval '${lifetimeMs} ms'
                 and m.effective_at + interval '${lifetimeMs} ms') then viewer end
         where id in (select id from taken) and id >= ${bound(0)} and id < ${bound(1)}
           and num_nonnulls(lat, lon, acc_m, comment, viewer) > 0
       )
       select max(id) as last from taken`,
      [last, atOnce],
    );
    last = taken!.last;
  }
}

/** The same as `pruneReporters` for all reporters of a detached table, whose marks have ids below `from`. */
export async function pruneTable(
  deps: Deps,
  table: string,
  from: number,
  atOnce = takenAtOnce,
): Promise<number> {
  let pruned = 0;
  for (let last = 0; ;) {
    const sql =
      "select distinct reporter_id as id from ?? where reporter_id > ? order by 1 limit ?";
    const here = (await rows<{ id: number }>(deps.db, sql, [table, last, atOnce])).map(
      ({ id }) => id,
    );
    if (here.length === 0) return pruned;
    last = here.at(-1)!;
    pruned += await pruneReporters(deps, here, from);
  }
}

/**
 * Deletes those of the reporters who have no mark with an id of `from` or above: their other marks are about to go
 * (decisions 19.10). A person who comes back is a new reporter. Opinions are gone long before.
 */
export async function pruneReporters(
  { db, clock }: Deps,
  ids: readonly number[],
  from: number,
): Promise<number> {
  // The limit makes it one probe of the index each.
  const sql = `select r.id from unnest(?::bigint[]) as r(id)
    where (select id from marks where reporter_id = r.id and marks.id >= ${from} limit 1) is null`;
  const gone = (await rows<{ id: number }>(db, sql, [ids])).map(({ id }) => id);
  return gone.length > 0 ? deleteReporters(db, gone, clock()) : 0;
}

/** Deletes them with the intake locked, because a person may come back at this moment. */
const deleteReporters = (db: Db, ids: readonly number[], now: number): Promise<number> =>
  inTransaction(db, async (tx) => {
    const sql =
      "select distinct coalesce(partner_id, 0) as side from reporters where id = any(?::bigint[])";
    const sides = await rows<{ side: number }>(tx, sql, [ids]);
    await lockIntake(
      tx,
      sides.map(({ side }) => side),
    );
    const deleted = await rows(
      tx,
      `delete from reporters r where id = any(?::bigint[])
         and coalesce(blocked_until < server_now(), true)
         and not exists (select from marks m where m.reporter_id = r.id and m.id >= ${firstIdOfDay(now - dayMs)})
       returning id`,
      [ids],
    );
    return deleted.length;
  });
