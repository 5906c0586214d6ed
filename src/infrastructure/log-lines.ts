import { writeSync } from "node:fs";

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
export function createLogLines(fd: number) {
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
