import { type DestinationStream, pino, type Logger } from "pino";
import pretty from "pino-pretty";
import type { Config } from "#src/infrastructure/config.ts";
import { describeError, onlyNamed } from "#src/infrastructure/log-fields.ts";
import { createLogLines } from "#src/infrastructure/log-lines.ts";

export type Log = Logger;

let stdout: DestinationStream | undefined;

/**
 * The log of one process: JSON lines, or readable lines on a terminal. No line is lost when the process exits, also by
 * an uncaught error. A killed process loses the last buffered lines (`src/infrastructure/log-lines.ts`), except errors.
 *
 * @param to another destination of the lines, as JSON
 */
export function createLog(
  config: Pick<Config, "logLevel">,
  role: string,
  to?: DestinationStream,
): Log {
  const options = {
    level: config.logLevel,
    base: { role, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { log: onlyNamed },
    serializers: { err: describeError },
  };
  if (to !== undefined) return pino(options, to);
  if (!process.stdout.isTTY) return pino(options, (stdout ??= createLogLines(1)));
  return pino(
    options,
    pretty({ sync: true, ignore: "pid,hostname", translateTime: "SYS:HH:MM:ss" }),
  );
}
