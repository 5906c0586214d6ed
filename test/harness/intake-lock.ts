import { type Db, rows } from "#src/infrastructure/db.ts";
import { lockIds } from "#src/infrastructure/locks.ts";

/** Whether somebody waits for marks of a partner, or of the map, that are being taken in. */
export async function isIntakeAwaited(db: Db): Promise<boolean> {
  const sql = `select from pg_locks where locktype = 'advisory' and classid = ? and not granted
    and database = (select oid from pg_database where datname = current_database())`;
  return (await rows(db, sql, [lockIds.intakePartner])).length > 0;
}
