import { type Db, rows } from "#src/infrastructure/db.ts";

/** SQL for one mark of each of the reporters `r`, `at` its time: every third is remote, one in five says `no`. */
const markOf = (at: string): string =>
  `next_mark_id(${at}), ?, r.id, 'partner', case when r.id % 5 = 0 then 'no' else 'yes' end, ${at}, ${at},
   r.id % 3 = 0, case when r.id % 3 = 0 or r.id % 5 = 0 then 2 else 1 end,
   case when r.id % 3 = 0 then 'remote' when r.id % 5 = 0 then 'no-nearby-marks' else 'geolocated' end`;

const columns =
  "id, station_id, reporter_id, source, status, received_at, effective_at, remote, needed, rule";

/** Stores marks of so many new reporters at a station, spread over the last 23 hours, for a worker to process. */
export async function crowd(db: Db, stationId: string, count: number): Promise<void> {
  await rows(
    db,
    `with r as (
       insert into reporters (hash, first_seen)
       select sha256(convert_to(? || n, 'UTF8')), server_now() - interval '30 days' + n * interval '4 minutes'
       from generate_series(1, ?::int) n returning id),
     timed as (
       select id, server_now() - interval '23 hours'
         + (row_number() over (order by id)) * interval '23 hours' / (?::int + 1) as at from r)
     insert into marks (${columns}) select ${markOf("r.at")} from timed r order by at`,
    [stationId, count, count, stationId],
  );
}

/** Stores a mark of a new reporter, made so many minutes before it was received: now, or at that time (SQL). Gives its id. */
export async function say(
  db: Db,
  stationId: string,
  minutesAgo: number,
  received = "server_now()",
): Promise<number> {
  const [mark] = await rows<{ id: number }>(
    db,
    `with r as (
       insert into reporters (hash, first_seen)
       values (sha256(convert_to(gen_random_uuid()::text, 'UTF8')), server_now() - interval '40 days') returning id)
     insert into marks (${columns})
     select next_mark_id(${received}), ?, r.id, 'partner', 'yes', ${received},
       ${received} - ?::int * interval '1 minute', false, 1, 'geolocated' from r returning id`,
    [stationId, minutesAgo],
  );
  return mark!.id;
}
