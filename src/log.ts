import { pino, type Logger } from "pino";
import pretty from "pino-pretty";
import type { Config } from "#src/config.ts";

export type Log = Logger;

/**
 * The log of one process: JSON lines, or readable lines on a terminal.
 * Synchronous on purpose: an asynchronous destination loses its last lines when the process dies.
 */
export function createLog(config: Pick<Config, "logLevel">, role: string): Log {
  const options = {
    level: config.logLevel,
    base: { role, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
  };
  if (!process.stdout.isTTY) return pino(options, pino.destination({ fd: 1, sync: true }));
  return pino(
    options,
    pretty({ sync: true, ignore: "pid,hostname", translateTime: "SYS:HH:MM:ss" }),
  );
}
