/**
 * Runs `work` never twice at once. A call during a run gets the next run, shared with all other calls of that time: the
 * current run may have looked before the caller's data was written. A run that fails rejects only its callers.
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

/** A look that is repeated by a timer. */
export interface Polled {
  /** Looks now. A call during a look gets the next one, as in `createNextRun`. Does nothing after the stop. */
  refresh(): Promise<void>;
  /** Looks now, and then by the timer. Resolves after the first look. A second start only looks once more. */
  start(): Promise<void>;
  /** Begins no more looks, and waits for the one under way. Does nothing before a start, or the second time. */
  stop(): Promise<void>;
}

/**
 * Calls `look` every `everyMs`. While a look lasts longer than that, the timer skips its turns, so looks neither
 * overlap nor queue up. `onError` gets a failed look's reason, and the next look comes at its usual time. The timer
 * keeps no process alive.
 */
export function createPolled(deps: {
  everyMs: number;
  look: () => Promise<void>;
  /** Gets the reason. Without it a failed look ends the process, as any fault that nobody caught. */
  onError?: (reason: string) => void;
}): Polled {
  const { everyMs, look, onError } = deps;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const looks = createNextRun(async () => {
    // Also for a look that was called for before the stop.
    if (stopped) return;
    try {
      await look();
    } catch (error) {
      if (onError === undefined) throw error;
      onError((error as Error).message);
    }
  });
  return {
    refresh: looks.run,
    start: () => {
      stopped = false;
      timer ??= setInterval(() => {
        if (!looks.isRunning()) void looks.run();
      }, everyMs).unref();
      return looks.run();
    },
    stop: async () => {
      stopped = true;
      clearInterval(timer);
      timer = undefined;
      await looks.idle();
    },
  };
}
