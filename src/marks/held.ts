import type { ConsoleHeldMark, ConsoleReporter } from "#src/contract/console-review.ts";
import { dayMs } from "#src/domain/units.ts";
import { type Db, rows, type Tx } from "#src/infrastructure/db.ts";
import { networkDigits } from "#src/marks/source-blocks.ts";
import {
  firstIdOfDay,
  firstIdOfDayAfter,
  fromMs,
  idAfter,
  msOf,
  stationTitle,
} from "#src/marks/marks.ts";

/** A mark that waits for the operator's decision (decisions 4). A rollback can select its `reporter_id`. */
type HeldMark = Pick<Row, "id" | "station_id" | "station" | "status" | "remote" | "comment"> &
  Pick<Row, "partner_id" | "key_id" | "reporter_id"> & { network: string | null } & Record<
    "received_at" | "effective_at",
    Date
  > & { first_seen: Date | null };

/** Held marks, oldest first, at most `limit`, and the number of all. */
export async function listHeld(
  db: Db | Tx,
  limit: number,
): Promise<{ marks: HeldMark[]; total: number }> {
  const marks = await rows<HeldMark>(
    db,
    `select m.id, m.station_id, m.status, m.received_at, m.effective_at, m.partner_id, m.key_id, m.reporter_id,
       left(encode(m.viewer, 'hex'), ${networkDigits}) as network, r.first_seen, m.remote, ${stationTitle} as station, m.comment
     from marks m left join stations s on s.id = m.station_id left join reporters r on r.id = m.reporter_id
     where m.review = 'held' order by m.id limit ?`,
    [limit],
  );
  return { marks, total: await countHeld(db) };
}

export async function countHeld(db: Db | Tx): Promise<number> {
  const sql = "select count(*) from marks where review = 'held'";
  return (await rows<{ count: number }>(db, sql))[0]!.count;
}

/** Number of held marks by partner. */
export async function countHeldByPartner(db: Db): Promise<Map<number, number>> {
  const found = await rows<{ partner: number; count: number }>(
    db,
    `select partner_id as partner, count(*) from marks
     where review = 'held' and partner_id is not null group by 1`,
  );
  return new Map(found.map(({ partner, count }) => [partner, count]));
}

/** Number of held marks by reason: intake's review, the limit of a source or a city, or a block. */
export async function countHeldByReason(db: Db): Promise<Record<string, number>> {
  const found = await rows<{ reason: string; count: number }>(
    db,
    `select coalesce(held_reason, 'mass-no') as reason, count(*) from marks
     where review = 'held' group by 1 order by 1`,
  );
  return { "mass-no": 0, ...Object.fromEntries(found.map(({ reason, count }) => [reason, count])) };
}

const historyMs = 7 * dayMs;

type Row = Omit<ConsoleHeldMark, "reporter"> & { reporter_id: number };

/** Held marks, oldest first, at most `limit`, each with facts for the decision, and the number of all. */
export async function heldRows(
  db: Db,
  limit: number,
  now: number,
): Promise<{ marks: ConsoleHeldMark[]; total: number }> {
  const held = await oldestHeld(db, limit);
  const reporters = await reportersOf(db, new Set(held.map((mark) => mark.reporter_id)), now);
  return {
    marks: held.map(({ reporter_id: id, ...mark }) => ({ ...mark, reporter: reporters.get(id)! })),
    total: await countHeld(db),
  };
}

const oldestHeld = (db: Db, limit: number): Promise<Row[]> =>
  rows<Row>(
    db,
    `select m.id, m.station_id, ${stationTitle} as station,
       s.lat as station_lat, s.lon as station_lon, coalesce(t.status, 'nodata') as served, m.status,
       ${msOf("m.received_at")} as received, ${msOf("m.effective_at")} as effective, m.lat, m.lon, m.acc_m, m.remote,
       m.comment, m.source, left(encode(m.viewer, 'hex'), ${networkDigits}) as network, m.partner_id, p.name as partner, m.key_id, m.reporter_id,
       src.marks as source_no, src.reporters as source_reporters
     from marks m join stations s on s.id = m.station_id
     left join station_status t on t.station_id = m.station_id left join partners p on p.id = m.partner_id
     left join lateral (
       select count(*) as marks, count(distinct n.reporter_id) as reporters from marks n
       where n.newcomer and n.status = 'no' and n.id >= ${firstIdOfDayAfter("m.id", -1)}
         and n.id < ${firstIdOfDayAfter("m.id", 1)}
         and n.received_at > m.received_at - interval '1 hour' and n.received_at <= m.received_at
         and (n.key_id = m.key_id and m.source = 'partner' or n.viewer = m.viewer and m.source <> 'partner')) src on true
     where m.review = 'held' order by m.id limit ?`,
    [limit],
  );

interface ReporterRow extends Omit<ConsoleReporter, "said"> {
  yes: number;
  low: number;
  no: number;
  queue: number;
}

/** The activity of these reporters in the last 7 days, by their number; unknown ones are left out. */
export async function reportersOf(
  db: Db,
  ids: ReadonlySet<number>,
  now: number,
): Promise<Map<number, ConsoleReporter>> {
  const since = now - historyMs;
  const found = await rows<ReporterRow>(
    db,
    `select r.id, ${msOf("r.first_seen")} as first_seen, count(m.id) as marks,
       count(m.id) filter (where status = 'yes') as yes, count(m.id) filter (where status = 'low') as low,
       count(m.id) filter (where status = 'no') as no, count(m.id) filter (where status = 'queue') as queue,
       count(distinct m.station_id) as stations, count(m.id) filter (where review = 'held') as held,
       count(m.id) filter (where review in ('rejected', 'withdrawn') and taken_back_at is null) as rejected
     from reporters r left join marks m on m.reporter_id = r.id and m.id >= ? and m.id < ?
       and m.received_at > ${fromMs}
     where r.id = any(?::bigint[]) group by r.id`,
    [firstIdOfDay(since), idAfter(now), since, [...ids]],
  );
  return new Map(
    found.map(({ yes, low, no, queue, ...reporter }) => [
      reporter.id,
      { ...reporter, said: { yes, low, no, queue } },
    ]),
  );
}
