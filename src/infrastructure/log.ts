import { writeSync } from "node:fs";
import { type DestinationStream, pino, type LogFn, type Logger } from "pino";
import pretty from "pino-pretty";
import { minuteMs } from "#src/domain/units.ts";
import type { Config } from "#src/infrastructure/config.ts";

export type Log = Logger;

let stdout: DestinationStream | undefined;

/**
 * The log of one process: JSON lines, or readable lines on a terminal. No line is lost when the process exits, also by
 * an uncaught error. A killed process loses the last buffered lines, except errors.
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
    hooks: { logMethod: seldomRepeated() },
  };
  if (to !== undefined) return pino(options, to);
  if (!process.stdout.isTTY) return pino(options, (stdout ??= createLogLines(1)));
  return pino(
    options,
    pretty({ sync: true, ignore: "pid,hostname", translateTime: "SYS:HH:MM:ss" }),
  );
}

/** Warnings and errors of the same words in a minute; a loop that fails without end must not fill the disk. */
const sameMost = 100;
const warnLevel = 40;
const fatalLevel = 60;

/** Leaves out what is said too often, and says once a minute how many lines that were. */
export function seldomRepeated(now: () => number = () => performance.now()) {
  const said = new Map<string, { since: number; lines: number }>();
  return function (this: Logger, words: Parameters<LogFn>, method: LogFn, level: number): void {
    if (level < warnLevel || level >= fatalLevel) return method.apply(this, words);
    const text = String(words.findLast((word) => typeof word === "string"));
    const before = said.get(text);
    if (before === undefined || now() - before.since >= minuteMs) {
      const lines = (before?.lines ?? 0) - sameMost;
      if (lines > 0) method.call(this, { lines, reason: text }, "lines like this were left out");
      said.set(text, { since: now(), lines: 1 });
    } else if ((before.lines += 1) > sameMost) return;
    method.apply(this, words);
  };
}

/**
 * The only names under which anything is logged. A log line is read by more people than the data is meant for, so a
 * name is added only if its values are never a header, query, body, key, user_ref or device.
 */
const names = new Set(
  `request_id method path route status ms bytes partner key aborted err error reason signal
   againInMs port channel queue job attempt duty slot result seq made kept keys count
   counts gzip br requested stations station marks mark processed different gone applied
   partition step table rows lines webhook delivery type day days browser dropped clocks trusted`.split(
    /\s+/,
  ),
);

/** The part of a line that may be logged. Other names are listed in `dropped`, without their values. */
export function onlyNamed(line: Record<string, unknown>): Record<string, unknown> {
  let dropped: string[] | null = null;
  for (const name in line) if (!names.has(name)) (dropped ??= []).push(name);
  if (dropped === null) return line;
  const kept = Object.entries(line).filter(([name]) => names.has(name));
  return { ...Object.fromEntries(kept), dropped };
}

/**
 * A path for the log, without the part behind `/users/`, which names a person, and without keys in wrong places. Of a path
 * that no route has only the first part that ours begin with: whatever stands behind a misspelt word may name a person.
 */
export const pathForLog = (path: string, isRouted: boolean): string =>
  (isRouted ? path : path.replace(/^((?:\/api\/v1\/partner)?\/).+/s, "$1…"))
    .replace(/((?:svc|pk|op)_live_)[0-9A-Za-z]+/g, "$1…")
    .replace(/(\/users)(\/|%2f).+/is, "$1/…");

/** The part of an error that may be logged: drivers add settings, statements and values to their errors. */
export function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return typeof error === "string" ? error : typeof error;
  const { name, message, stack, cause } = error;
  const { code } = error as { code?: unknown };
  return { name, message, stack, code, cause: cause === undefined ? cause : describeError(cause) };
}

const chunkBytes = 16_384;
const delayMs = 10;
const retryMs = 2;
/** Most text kept for a slow reader. Beyond it the process waits, and drops the text if the reader takes nothing. */
const heldMax = 8 << 20;
const patienceMs = 1000;
const errorLevel = 50;

/**
 * Lines to a file descriptor, in chunks: a system call per line costs more than the line. Lines wait for `delayMs` at
 * most and are written before the process exits; an error's line is written at once with all lines before it. A full
 * pipe is tried again later, because waiting for it would stop every request.
 *
 * pino's own destination cannot do this: with `sync` it waits for a full pipe; without, a chunk may be in another
 * thread when an error must be written with all before it. Both wait for ever at exit for a reader that never reads.
 */
function createLogLines(fd: number) {
  let held = "";
  let rest: Buffer = Buffer.alloc(0);
  let timer: NodeJS.Timeout | undefined;

  /** False when the reader has to catch up first. */
  const push = (): boolean => {
    for (;;) {
      if (rest.length === 0) {
        if (held === "") return true;
        rest = Buffer.from(held);
        held = "";
      }
      try {
        rest = rest.subarray(writeSync(fd, rest));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "EAGAIN") return false;
        // Nobody reads any more, so the fault cannot be told anywhere.
        rest = Buffer.alloc(0);
      }
    }
  };
  const later = (ms: number): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      if (!push()) later(retryMs);
    }, ms).unref();
  };
  const flush = (): boolean => {
    const end = performance.now() + patienceMs;
    while (!push()) {
      if (performance.now() > end) return false;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
    return true;
  };
  const flushSync = (): void => void flush();

  process.once("exit", flushSync);
  const lines = {
    // Makes pino set `lastLevel` to the level of the line.
    [Symbol.for("pino.metadata")]: true,
    lastLevel: 0,
    write(line: string): void {
      held += line;
      if (lines.lastLevel >= errorLevel) return flushSync();
      if (held.length > heldMax && !flush()) held = "";
      if (held.length < chunkBytes || rest.length > 0 || !push())
        later(rest.length > 0 ? retryMs : delayMs);
    },
    /** Writes all lines that are still held; waits a second at most for a reader that takes nothing. */
    flushSync,
  };
  return lines;
}
