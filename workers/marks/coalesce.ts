const stationsMax = 500;

interface Waiting {
  stationIds: readonly string[];
  resolve: () => void;
  reject: (error: unknown) => void;
}

/**
 * Collects requests into few runs, as intake does: requests made during `atOnce` runs share the next run. There is no
 * timer, so a single request starts at once. A run that fails rejects all its requests.
 */
export function createCoalescer(
  run: (stationIds: readonly string[]) => Promise<unknown>,
  atOnce: number,
): (stationIds: readonly string[]) => Promise<void> {
  let waiting: Waiting[] = [];
  let running = 0;

  const take = (): Waiting[] => {
    let stations = 0;
    const end = waiting.findIndex(({ stationIds }, index) => {
      stations += stationIds.length;
      return index > 0 && stations > stationsMax;
    });
    const taken = end < 0 ? waiting : waiting.slice(0, end);
    waiting = end < 0 ? [] : waiting.slice(end);
    return taken;
  };

  const pump = (): void => {
    while (waiting.length > 0 && running < atOnce) {
      const together = take();
      running += 1;
      void run([...new Set(together.flatMap(({ stationIds }) => stationIds))])
        .then(
          () => together.forEach(({ resolve }) => resolve()),
          (error: unknown) => together.forEach(({ reject }) => reject(error)),
        )
        .finally(() => {
          running -= 1;
          pump();
        });
    }
  };

  return (stationIds) =>
    new Promise((resolve, reject) => {
      waiting.push({ stationIds, resolve, reject });
      pump();
    });
}
