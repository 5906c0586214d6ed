import { assembleWeb } from "#api/assemble.ts";
import { loadConfig, missingSettings, type Config } from "#src/config.ts";
import { createLog } from "#src/log.ts";
import { dieLoudly } from "#src/stop.ts";

// The web role.
let config: Config;
try {
  config = loadConfig();
} catch (error) {
  createLog({ logLevel: "info" }, "web").fatal((error as Error).message);
  process.exit(1);
}
const log = createLog(config, "web");
const missing = missingSettings(config);
if (missing !== null) {
  log.fatal(missing);
  process.exit(1);
}

dieLoudly(log);
const web = assembleWeb(config, { log });
try {
  const { port } = await web.start();
  log.info({ port }, "ready");
} catch (error) {
  log.fatal({ reason: (error as Error).message }, "cannot serve");
  process.exit(1);
}

let stopping = false;
const stop = async (signal: string): Promise<void> => {
  if (stopping) return;
  stopping = true;
  log.info({ signal }, "stopping");
  setTimeout(() => {
    log.error("did not stop in time");
    process.exit(1);
  }, config.stopMs).unref();
  await web.stop();
  log.info("stopped");
};
process.on("SIGTERM", () => void stop("SIGTERM"));
process.on("SIGINT", () => void stop("SIGINT"));
