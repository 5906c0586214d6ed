import type { Config } from "#src/infrastructure/config.ts";
import { rows, type Statements } from "#src/infrastructure/db.ts";

/** Source of the current time in ms since the epoch. Injected everywhere, so that tests can shift it. */
export type Clock = () => number;

/** The database's time, ms: for commands and others that measure no clock, and for decisions in a transaction. */
export async function databaseNow(db: Statements): Promise<number> {
  const sql = "select floor(extract(epoch from server_now()) * 1000)::float8 as now";
  const [clock] = await rows<{ now: number }>(db, sql);
  return clock!.now;
}

/** The process's own clock, shifted by `clockOffsetS` as SQL's `server_now()` is. For code that follows no database. */
export const createClock = (config: Pick<Config, "clockOffsetS">): Clock => {
  const offsetMs = config.clockOffsetS * 1000;
  return () => Date.now() + offsetMs;
};
