import { randomBytes } from "node:crypto";
import type { Config } from "#src/infrastructure/config.ts";
import { type Db, inTransaction, rows, type Tx } from "#src/infrastructure/db.ts";
import { lockIds, lockStations } from "#src/infrastructure/locks.ts";
import { dayMs } from "#src/domain/units.ts";
import { firstIdOfDay, msOf } from "#src/marks/marks.ts";
import { type Person, reporterOf } from "#src/marks/reporter.ts";
import { act, isNotDone, type NotDone, unknown } from "#src/operators/act.ts";

/** What an erasing has done. */
export interface Erased {
  /** False: nobody of this name is known, or not any more. */
  erased: boolean;
  /** Marks that stay, and lead to nobody. */
  marks: number;
}

/**
 * Erases a person (docs/decisions.md 19.1 to 19.5): the reporter's hash becomes random, and positions, comments and
 * external ids of its marks are gone. A mark that is sent meanwhile comes before or after: then it is a new reporter's.
 */
export async function erasePerson(db: Db, config: Rules, person: Person): Promise<Erased> {
  const hash = reporterOf(config.reporterPepper, person);
  await clearAhead(db, hash);
  const id = await inTransaction(db, (tx) => forget(tx, person, hash));
  return erasedOf(db, id);
}

/** The same as an act of an operator. The operator's log says of which partner, and not of whom. */
export async function eraseByOperator(
  db: Db,
  actor: string,
  config: Rules,
  person: Person,
): Promise<Erased | NotDone> {
  const hash = reporterOf(config.reporterPepper, person);
  await clearAhead(db, hash);
  const done = await act(db, actor, async (tx) => {
    const refused = await refuseUnknownPartner(tx, person);
    if (refused !== null) return refused;
    const id = await forget(tx, person, hash);
    const details = { erased: id !== null };
    return { value: { id }, action: "reporter.erase", subject: sideOf(person), details };
  });
  return isNotDone(done) ? done : erasedOf(db, done.id);
}

type Rules = Pick<Config, "reporterPepper">;

/** A user of a partner that there is not is a typing error. */
export async function refuseUnknownPartner(tx: Tx, person: Person): Promise<NotDone | null> {
  if ("device" in person) return null;
  const sql = "select id from partners where id = ?";
  const found = await rows(tx, sql, [person.partner]);
  return found.length > 0 ? null : unknown("partner", person.partner);
}

/** Whose people the person is one of: all that the operator's log may say. */
export const sideOf = (person: Person): string =>
  "device" in person ? "the map" : `partner ${person.partner}`;

/** The number of the person's reporter; null when there is none. */
export async function findReporterId(db: Db | Tx, hash: string): Promise<number | null> {
  const sql = "select id from reporters where hash = decode(?, 'hex')";
  const [found] = await rows<{ id: number }>(db, sql, [hash]);
  return found?.id ?? null;
}

/** Most of the work is done before anybody has to wait for it: all marks so far. */
async function clearAhead(db: Db, hash: string): Promise<void> {
  const id = await findReporterId(db, hash);
  if (id !== null) await inTransaction(db, (tx) => clearMarks(tx, id, 0));
}

/**
 * Replaces the reporter while no mark of this partner, or of the map, is taken in. Gives the number of its row, which
 * stays, because marks and opinions name it; null when there was nobody.
 */
async function forget(tx: Tx, person: Person, hash: string): Promise<number | null> {
  // Nobody waits for an unknown person, whom a stranger may ask for at will.
  if ((await findReporterId(tx, hash)) === null) return null;
  const scope = "device" in person ? 0 : person.partner;
  await rows(tx, `select pg_advisory_xact_lock(${lockIds.intakePartner}, ?::int)`, [scope]);
  const id = await findReporterId(tx, hash);
  if (id === null) return null;
  const [clock] = await rows<{ now: number }>(tx, `select ${msOf("server_now()")} as now`);
  await clearMarks(tx, id, clock!.now - dayMs);
  const sql = "update reporters set hash = ?, viewer = null where id = ?";
  await rows(tx, sql, [randomBytes(32), id]);
  return id;
}

/** What of a mark can lead to a person, beside its reporter. */
const personal = ["lat", "lon", "acc_m", "comment", "external_id"];

/** Clears what is personal in the reporter's marks of the day of `since`, ms, and later. */
async function clearMarks(tx: Tx, reporterId: number, since: number): Promise<void> {
  const from = firstIdOfDay(since);
  const where = `reporter_id = ? and id >= ${from} and num_nonnulls(${personal.join(", ")}) > 0`;
  const sql = `select distinct station_id from marks where ${where}`;
  const stations = await rows<{ station_id: string }>(tx, sql, [reporterId]);
  if (stations.length === 0) return;
  // Who has the stations has their marks: nobody else writes to these meanwhile.
  await lockStations(
    tx,
    stations.map(({ station_id: id }) => id),
    "wait",
  );
  await rows(
    tx,
    `with cleared as (
       select id, partner_id, external_id from marks where ${where} order by id for update
     ), named as (
       delete from mark_keys k using cleared c
       where k.partner_id = c.partner_id and k.external_id = c.external_id and k.mark_id = c.id
     )
     update marks set ${personal.map((column) => `${column} = null`).join(", ")}
     from cleared where marks.id = cleared.id and marks.id >= ${from}`,
    [reporterId],
  );
}

async function erasedOf(db: Db, id: number | null): Promise<Erased> {
  if (id === null) return { erased: false, marks: 0 };
  const sql = "select count(*) as count from marks where reporter_id = ?";
  const [marks] = await rows<{ count: number }>(db, sql, [id]);
  return { erased: true, marks: marks!.count };
}
