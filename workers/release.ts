import { issueConsumerKey } from "#src/consumer-key.ts";
import { migrate } from "#src/migrate.ts";
import { loadConfig } from "#src/config.ts";
import { createDb } from "#src/db.ts";
import { createLog } from "#src/log.ts";

// The release role: migrations and the key of the map at /, by one process, before any other role of a new version starts.
const config = loadConfig();
const log = createLog(config, "release");
if (config.databaseUrl === "") {
  log.fatal("set DATABASE_URL");
  process.exit(1);
}
const db = createDb({ ...config, queryTimeoutMs: 600_000, lockTimeoutMs: 60_000 }, "release", 2);
try {
  await migrate(db, log);
  await issueConsumerKey(db, config);
} catch (error) {
  log.fatal({ err: error }, "migration failed");
  process.exitCode = 1;
} finally {
  await db.destroy();
}
