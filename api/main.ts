import { assembleWeb } from "#api/assemble.ts";
import { dieLoudly, refuseUnsuitable, roleConfig } from "#src/infrastructure/lifecycle.ts";
import { basemapWord } from "#src/infrastructure/map-settings.ts";
import { openTracer } from "#src/infrastructure/tracing.ts";

// The web role.
const { config, log } = roleConfig("web");

dieLoudly(log);
void refuseUnsuitable(config, log);
const tracer = await openTracer(config, "web", log);
const web = assembleWeb(config, { log, tracer });

let stopping = false;
const stop = async (signal: string): Promise<void> => {
  if (stopping) return;
  stopping = true;
  log.info({ signal }, "stopping");
  setTimeout(() => {
    log.error("did not stop in time");
    process.exit(1);
  }, config.leaveMs + config.stopMs).unref();
  await web.stop();
  await tracer?.close();
  log.info("stopped");
};
process.on("SIGTERM", () => void stop("SIGTERM"));
process.on("SIGINT", () => void stop("SIGINT"));

try {
  const { port } = await web.start();
  if (!stopping) log.info({ port }, "ready");
  const word = await basemapWord(config);
  if (word !== null) log.info(word);
  if (!process.env["BASE_URL"])
    log.warn(`BASE_URL is not set: answers, cookies and the console are for ${config.baseUrl}`);
} catch (error) {
  const { host, port } = config;
  log.fatal({ reason: (error as Error).message }, `cannot listen on HOST ${host}, PORT ${port}`);
  process.exit(1);
}
