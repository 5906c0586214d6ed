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
  return { run, idle };
}
