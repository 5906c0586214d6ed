import {
  type Config,
  formerSettings,
  loadConfig,
  missingSettings,
} from "#src/infrastructure/config.ts";
import { pauseMs } from "#src/domain/units.ts";
import { createLog, type Log } from "#src/infrastructure/log.ts";
import { poolerFault } from "#src/infrastructure/pooler.ts";
import { schemaFault } from "#src/infrastructure/schema-fault.ts";

const all = ["databaseUrl", "redisUrl", "reporterPepper"] as const;

/**
 * Settings and log of this process's role. Ends the process with one line that names every bad setting, and every
 * missing one that the role needs.
 */
export function roleConfig(
  role: string,
  needed: readonly (typeof all)[number][] = all,
): { config: Config; log: Log } {
  let config: Config;
  try {
    config = loadConfig();
  } catch (error) {
    return refuse(createLog({ logLevel: "info" }, role), (error as Error).message);
  }
  const log = createLog(config, role);
  const former = formerSettings().join(", ");
  if (former !== "") log.warn(`no settings any more, and without effect: ${former}`);
  const missing = missingSettings(config, needed);
  return missing === null ? { config, log } : refuse(log, missing);
}

function refuse(log: Log, sentence: string): never {
  log.fatal(sentence);
  process.exit(1);
}

const lookAgainMs = 5000;

/**
 * Ends the process with one line if it reaches Postgres through a pooler that cannot work, or if Postgres is too old or no
 * release has migrated the database; `release` asks only for the first. While Postgres is away this is unknown: it
 * resolves, and looks again until it knows. The first time it says so: a role that only waits for jobs would be silent.
 */
export async function refuseUnsuitable(
  config: Config,
  log: Log,
  faultOf: (config: Config) => Promise<string | null> = roleFault,
  level: "warn" | "debug" = "warn",
): Promise<void> {
  try {
    const fault = await faultOf(config);
    if (fault !== null) refuse(log, fault);
  } catch (error) {
    log[level]({ err: (error as Error).message }, "Postgres does not answer yet");
    setTimeout(() => void refuseUnsuitable(config, log, faultOf, "debug"), lookAgainMs).unref();
  }
}

const roleFault = async (config: Config): Promise<string | null> =>
  (await poolerFault(config)) ?? schemaFault(config);

/**
 * Runs one role of a process: starts it (again and again until its servers are there), says `ready`, and on SIGINT or
 * SIGTERM stops it; exits at once when the stop takes longer than `stopMs`.
 */
export async function untilStopped(
  config: Config,
  log: Log,
  role: { start(): Promise<object | void>; stop(): Promise<void> },
): Promise<void> {
  let stopping = false;
  const stop = (signal: string): void => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, "stopping");
    setTimeout(() => {
      log.error("did not stop in time, leaving");
      process.exit(1);
    }, config.stopMs).unref();
    role.stop().then(
      () => {
        log.info("stopped");
        process.exit(0);
      },
      (error: Error) => {
        log.error({ err: error }, "stopping failed");
        process.exit(1);
      },
    );
  };
  process.once("SIGINT", () => stop("SIGINT"));
  process.once("SIGTERM", () => stop("SIGTERM"));
  dieLoudly(log);
  void refuseUnsuitable(config, log);

  for (let tries = 0; !stopping; tries += 1) {
    try {
      const facts = await role.start();
      log.info({ ...facts }, "ready");
      return;
    } catch (error) {
      const againInMs = pauseMs(tries, 250, 4000);
      log.warn({ err: (error as Error).message, againInMs }, "cannot start yet");
      await new Promise((resolve) => setTimeout(resolve, againInMs));
    }
  }
}

/**
 * Ends the process with a log line after an uncaught error: its supervisor starts it anew, and the log has the reason.
 */
export function dieLoudly(log: Log): void {
  const die = (error: unknown): void => {
    log.fatal({ err: error }, "unexpected error");
    process.exit(1);
  };
  process.on("uncaughtException", die);
  process.on("unhandledRejection", die);
}
