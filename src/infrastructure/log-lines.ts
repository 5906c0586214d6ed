import { writeSync } from "node:fs";

const chunkBytes = 16_384;
const delayMs = 10;
const retryMs = 2;
/** More than this is not kept for a reader that has fallen behind: it is waited for, and lost if it takes nothing. */
const heldMax = 8 << 20;
const patienceMs = 1000;
const errorLevel = 50;

/**
 * Lines to a file descriptor, in chunks: a system call per line costs more than the line. What is held back, for
 * `delayMs` at most, is written before the process exits; a line of an error is written at once with all before it.
 * A pipe that is full is tried again later instead of being waited for, which would stop every request.
 *
 * pino's own destination does not keep this: with `sync` it waits for a full pipe; without, a chunk is under way in
 * another thread when an error has to be written with all before it. Both wait at exit for a reader that never reads.
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
        // Nobody reads any more: there is no place left to tell it.
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
    // pino then says in `lastLevel` how serious the line is that it writes.
    [Symbol.for("pino.metadata")]: true,
    lastLevel: 0,
    write(line: string): void {
      held += line;
      if (lines.lastLevel >= errorLevel) return flushSync();
      if (held.length > heldMax && !flush()) held = "";
      if (held.length < chunkBytes || rest.length > 0 || !push())
        later(rest.length > 0 ? retryMs : delayMs);
    },
    /** Writes everything that is still here; waits a second at most for a reader that takes nothing. */
    flushSync,
  };
  return lines;
}
