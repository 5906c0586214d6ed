import { randomBytes } from "node:crypto";
import type { Refusal } from "#src/contract/refusals.ts";
import { dayMs } from "#src/domain/units.ts";
import { databaseNow } from "#src/infrastructure/clock.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { type Db, inTransaction, rows, type Statements, type Tx } from "#src/infrastructure/db.ts";
import { lockIntake, lockStations } from "#src/infrastructure/locks.ts";
import { refuseAbsentPartner } from "#src/keys/partners.ts";
import { oldestDay } from "#src/marks/mark-tables.ts";
import { idsByDays, type Person, reporterOf } from "#src/marks/marks.ts";
import { forgetDevice } from "#src/pushes/alerts/devices.ts";
import { act } from "#src/operators/act.ts";
import { forgetSuggestions } from "#src/stations/suggestions.ts";

/** The result of an erasure; `erased` is false when nobody of this name is known, or not any more. */
export interface Erased {
  erased: boolean;
}

/**
 * Erases a person (decisions 19.1 to 19.5): the reporter's hash becomes random, and positions, comments and external
 * ids of its marks are gone. A mark that is sent meanwhile is erased too, or belongs to a new reporter.
 */
export async function erasePerson(db: Db, config: Config, person: Person): Promise<Erased> {
  await clearAhead(db, config, person);
  return inTransaction(db, (tx) => forget(tx, config, person));
}

/** The same as an act of an operator. The operator's log names the partner, not the person. */
export async function eraseByOperator(
  db: Db,
  actor: string,
  config: Config,
  person: Person,
): Promise<Erased | Refusal> {
  const refused = await refuseUnknownPartner(db, person);
  if (refused !== null) return refused;
  await clearAhead(db, config, person);
  return act(db, actor, async (tx) => {
    const value = await forget(tx, config, person);
    return { value, action: "reporter.erase", subject: sideOf(person), details: value };
  });
}

/** Refuses an unknown partner, which is a typing error. */
export async function refuseUnknownPartner(
  db: Statements,
  person: Person,
): Promise<Refusal | null> {
  return "device" in person ? null : refuseAbsentPartner(db, person.partner);
}

/** The map or the partner that the person belongs to: the operator's log may say no more. */
export const sideOf = (person: Person): string =>
  "device" in person ? "the map" : `partner ${person.partner}`;

export interface PersonRow {
  id: number;
  first_seen: Date | null;
  blocked_until: Date | null;
}

/** The person's reporter; null when there is none. */
export async function findPerson(
  db: Statements,
  { reporterPepper }: Pick<Config, "reporterPepper">,
  person: Person,
): Promise<PersonRow | null> {
  const sql = "select id, first_seen, blocked_until from reporters where hash = decode(?, 'hex')";
  const [found] = await rows<PersonRow>(db, sql, [reporterOf(reporterPepper, person)]);
  return found ?? null;
}

/** Clears all marks so far before any lock, so that others wait only for the rest. */
async function clearAhead(db: Db, config: Config, person: Person): Promise<void> {
  const reporter = await findPerson(db, config, person);
  if (reporter === null) return;
  const now = await databaseNow(db);
  // All days: what the settings let go may still be there, and external ids stay as long as their marks.
  for (const ids of idsByDays((await oldestDay(db)) ?? now, now)) {
    const stations = await stationsOf(db, reporter.id, ids);
    if (stations.length > 0)
      await inTransaction(db, (tx) => clearMarks(tx, reporter.id, ids, stations));
  }
}

/**
 * Replaces the reporter while the intake of this partner, or of the map, is locked. Its row keeps its number, because
 * marks and opinions name it.
 */
async function forget(tx: Tx, config: Config, person: Person): Promise<Erased> {
  // Also for a driver without marks: alerts and suggestions need no reporter.
  const hash = reporterOf(config.reporterPepper, person);
  const said = await forgetSuggestions(tx, hash);
  const told = (await forgetDevice(tx, hash)) || said;
  // Takes no lock for an unknown person, since strangers may send any name.
  if ((await findPerson(tx, config, person)) === null) return { erased: told };
  await lockIntake(tx, ["device" in person ? 0 : person.partner]);
  const reporter = await findPerson(tx, config, person);
  if (reporter === null) return { erased: told };
  const now = await databaseNow(tx);
  for (const ids of idsByDays(now - dayMs, now)) {
    const stations = await stationsOf(tx, reporter.id, ids);
    if (stations.length > 0) await clearMarks(tx, reporter.id, ids, stations);
  }
  const sql = "update reporters set hash = ?, viewer = null where id = ?";
  await rows(tx, sql, [randomBytes(32), reporter.id]);
  return { erased: true };
}

/** Columns of a mark that can lead to a person, beside its reporter. */
const personal = ["lat", "lon", "acc_m", "comment", "external_id"];
const isPersonal = `num_nonnulls(${personal.join(", ")}) > 0`;

/** The stations at which marks of the reporter, with these ids, hold something personal. */
async function stationsOf(db: Statements, reporterId: number, ids: string): Promise<string[]> {
  const sql = `select distinct station_id as id from marks where reporter_id = ? and ${ids} and ${isPersonal}`;
  return (await rows<{ id: string }>(db, sql, [reporterId])).map(({ id }) => id);
}

/** Clears the personal columns of the reporter's marks with these ids. */
async function clearMarks(
  tx: Tx,
  reporterId: number,
  ids: string,
  stationIds: readonly string[],
): Promise<void> {
  // The lock of the stations covers their marks: no worker writes to these meanwhile.
  await lockStations(tx, stationIds, "wait");
  await rows(
    tx,
    `with cleared as (
       select id, partner_id, external_id from marks where reporter_id = ? and ${ids} and ${isPersonal}
       order by id for update
     ), named as (
       delete from mark_keys k using cleared c
       where k.partner_id = c.partner_id and k.external_id = c.external_id and k.mark_id = c.id
     )
     update marks set ${personal.map((column) => `${column} = null`).join(", ")}
     where id in (select id from cleared) and ${ids}`,
    [reporterId],
  );
}
