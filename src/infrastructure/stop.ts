import type { Config } from "#src/infrastructure/config.ts";
import type { Log } from "#src/infrastructure/log.ts";

/**
 * Runs one role of a process: starts it (again and again until its servers are there), says `ready`, and on SIGINT or
 * SIGTERM stops it; exits hard when that takes longer than `stopMs`.
 */
export async function untilStopped(
  config: Pick<Config, "stopMs">,
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

  for (let pauseMs = 250; !stopping; pauseMs = Math.min(pauseMs * 2, 4000)) {
    try {
      const facts = await role.start();
      log.info({ ...facts }, "ready");
      return;
    } catch (error) {
      log.warn({ err: (error as Error).message, againInMs: pauseMs }, "cannot start yet");
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}

/**
 * An error that nobody caught ends the process with a log line: whoever watches it starts it anew, and whoever reads
 * the log knows why.
 */
export function dieLoudly(log: Log): void {
  const die = (error: unknown): void => {
    log.fatal({ err: error }, "unexpected error");
    process.exit(1);
  };
  process.on("uncaughtException", die);
  process.on("unhandledRejection", die);
}
