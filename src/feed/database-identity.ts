import { rows, type Statements } from "#src/infrastructure/db.ts";

/** The timeline of the log of a primary, eight hexadecimal digits; null at a standby. */
export const timelineSql = `case when pg_is_in_recovery() then null
  else left(pg_walfile_name(pg_current_wal_lsn()), 8) end`;

const isKnown = `d.system_identifier = (select system_identifier::text from pg_control_system())
  and d.timeline is not distinct from coalesce(${timelineSql}, d.timeline)`;

/** False on another server, or another timeline, than the one last noted: numbers may have been lost with the former. */
export async function isKnownDatabase(db: Statements): Promise<boolean> {
  const sql = `select ${isKnown} as known from database_identity d`;
  const [found] = await rows<{ known: boolean }>(db, sql, []);
  return found?.known === true;
}

/** Locks what is noted until the end of the transaction. False when another process has it, or it has been noted. */
export async function claimUnknownDatabase(tx: Statements): Promise<boolean> {
  const sql = `select from database_identity d where not (${isKnown}) for update skip locked`;
  return (await rows(tx, sql, [])).length > 0;
}

/** Notes that all has followed the database as it is now. */
export async function noteDatabase(tx: Statements): Promise<void> {
  const sql = `update database_identity d set system_identifier = s.system_identifier::text,
      timeline = coalesce(${timelineSql}, d.timeline), known_since = server_now()
    from pg_control_system() s`;
  await rows(tx, sql, []);
}
