import { english } from "#src/contract/sentences.ts";
import { raiseAlarms } from "#src/alarms/raise.ts";
import { renewEpoch } from "#src/feed/cache-generations.ts";
import {
  claimStrangeness,
  noteDatabase,
  recallToken,
  rememberToken,
  renewToken,
  strangenessOf,
  markAllChanged,
} from "#src/feed/database-identity.ts";
import { inTransaction } from "#src/infrastructure/db.ts";
import { logAction } from "#src/operators/operator-log.ts";
import type { RoleDeps } from "#workers/role.ts";

/**
 * Marks all stations as changed when the database is another one than before: another server or timeline, because a
 * standby that took over may lack the last commits, or an earlier state. Caches and partners' copies may have data that
 * it has lost (decisions 16.29, 21.22). Gives the number of stations. After an interruption it begins anew; only one of
 * several processes does it.
 */
export async function followFailover({
  db,
  config,
  log,
  redis,
  clock,
}: Pick<RoleDeps, "db" | "config" | "log" | "redis" | "clock">): Promise<number> {
  const { redisPrefix: prefix } = config;
  const last = await recallToken(redis, prefix);
  if ((await strangenessOf(db, last)) === null) {
    // Without Redis only the processes could remember a new token, and they know the last one.
    await rememberToken(redis, prefix, await renewToken(db)).catch(() => undefined);
    return 0;
  }
  return inTransaction(db, async (tx) => {
    // This transaction holds one row while others mark the stations.
    await tx.raw("set local idle_in_transaction_session_timeout = 0");
    const code = await claimStrangeness(tx, last);
    if (code === null) return 0;
    const reason = english({ code });
    log.warn({ reason }, "the database is another one than before, marking all stations");
    const done = await markAllChanged(db, () => undefined);
    await renewEpoch(redis, prefix).catch((error: Error) =>
      log.debug({ err: error.message }, "cached rectangles not dropped"),
    );
    await noteDatabase(tx);
    const entry = { action: "database.failover", subject: "database" };
    await logAction(tx, { actor: "upkeep", ...entry, details: { ...done, reason } });
    const alarm = { kind: "database-changed", subject: { code }, details: { ...done } } as const;
    await raiseAlarms(tx, [{ ...alarm, at: clock() }]);
    return done.stations;
  });
}
