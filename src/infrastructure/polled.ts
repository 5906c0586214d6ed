/**
 * Runs `work` never twice at once. A call during a run gets the next run, which all calls of that time share: what it
 * wants to see was perhaps written after the current run had looked. A run that fails rejects its callers alone.
 */
export function createNextRun(work: () => Promise<void>) {
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  const run = (): Promise<void> => {
    if (running === null) {
      running = work().finally(() => (running = null));
      return running;
    }
    next ??= running
      .catch(() => {})
      .then(() => {
        next = null;
        return run();
      });
    return next;
  };
  /** Resolves when nothing runs and nothing waits. */
  const idle = async (): Promise<void> => (next ?? running)?.catch(() => {});
  return { run, idle, isRunning: (): boolean => running !== null };
}

/** Something that is looked at again and again. */
export interface Polled {
  /** Looks now. A call during a look gets the next one, as in `createNextRun`. Never rejects; after the stop it does nothing. */
  refresh(): Promise<void>;
  /** Looks, and keeps looking. Resolves after the first look. A second start looks once more and sets no second timer. */
  start(): Promise<void>;
  /** Begins no look any more, and waits for the one under way. Nothing happens before a start, or the second time. */
  stop(): Promise<void>;
}

/**
 * Calls `look` every `everyMs`. A look that lasts longer than that has no other beside it and none behind it: the timer
 * leaves out its turn. One that fails is told to `onError`, and the next comes at its time. The timer keeps no process
 * alive.
 */
export function createPolled(deps: {
  everyMs: number;
  look: () => Promise<void>;
  /** Gets the reason. Without it `look` must not reject. */
  onError?: (reason: string) => void;
}): Polled {
  const { everyMs, look, onError = () => {} } = deps;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const looks = createNextRun(() => look().catch((error: Error) => onError(error.message)));
  const refresh = async (): Promise<void> => {
    if (!stopped) await looks.run();
  };
  return {
    refresh,
    start: () => {
      stopped = false;
      timer ??= setInterval(() => {
        if (!looks.isRunning()) void refresh();
      }, everyMs).unref();
      return refresh();
    },
    stop: async () => {
      stopped = true;
      clearInterval(timer);
      timer = undefined;
      await looks.idle();
    },
  };
}
