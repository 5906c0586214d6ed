import { renewEpoch } from "#src/feed/cache-generations.ts";
import {
  claimUnknownDatabase,
  isKnownDatabase,
  noteDatabase,
} from "#src/feed/database-identity.ts";
import { markAllChanged } from "#src/feed/mark-all-changed.ts";
import { inTransaction } from "#src/infrastructure/db.ts";
import { logAction } from "#src/operators/operator-log.ts";
import type { RoleDeps } from "#workers/role.ts";

/**
 * Marks all stations as changed when the database is another server, or on another timeline, than before: a standby that
 * took over may not have had the last commits, and caches and partners' copies know them (docs/decisions.md 16.29). Gives
 * the number of stations. Broken off, it begins anew; of several processes one does it.
 */
export async function followFailover({
  db,
  config,
  log,
  redis,
}: Pick<RoleDeps, "db" | "config" | "log" | "redis">): Promise<number> {
  if (await isKnownDatabase(db)) return 0;
  return inTransaction(db, async (tx) => {
    // It holds one row while other transactions mark the stations.
    await tx.raw("set local idle_in_transaction_session_timeout = 0");
    if (!(await claimUnknownDatabase(tx))) return 0;
    log.warn("the database is another server or timeline than before, marking all stations");
    const done = await markAllChanged(db, () => undefined);
    await renewEpoch(redis, config.redisPrefix).catch((error: Error) =>
      log.debug({ err: error.message }, "cached rectangles not dropped"),
    );
    await noteDatabase(tx);
    const entry = { action: "database.failover", subject: "database", details: done };
    await logAction(tx, { actor: "upkeep", ...entry });
    return done.stations;
  });
}
