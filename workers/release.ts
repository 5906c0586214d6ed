import { issueConsumerKey } from "#src/keys/consumer-key.ts";
import { migrate } from "#src/infrastructure/migrate.ts";
import { databaseFault } from "#src/infrastructure/database-fault.ts";
import { createDb } from "#src/infrastructure/db.ts";
import { minuteMs } from "#src/domain/units.ts";
import { refuseUnsuitable, roleConfig } from "#src/infrastructure/lifecycle.ts";
import { poolerFault } from "#src/infrastructure/pooler.ts";
import { directUrl } from "#src/infrastructure/postgres-hosts.ts";

// The release role: migrations and the key of the map at /, by one process, before any other role of a new version starts.
const { config, log } = roleConfig("release", ["databaseUrl"]);
await refuseUnsuitable(config, log, poolerFault);
const patience = { queryTimeoutMs: 600_000, lockTimeoutMs: minuteMs };
const db = createDb({ ...config, ...patience, databaseUrl: directUrl(config) }, "release", 2);
try {
  await migrate(db, log);
  await issueConsumerKey(db, config);
} catch (error) {
  const said = databaseFault(error);
  if (said === null) log.fatal({ err: error }, "migration failed");
  else log.fatal({ reason: (error as Error).message }, said);
  process.exitCode = 1;
} finally {
  await db.destroy();
}
