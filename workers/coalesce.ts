const stationsMax = 500;

interface Waiting<T> {
  stationIds: readonly string[];
  resolve: (result: T) => void;
  reject: (error: unknown) => void;
}

/**
 * Collects requests into few runs, as intake does: requests made during `atOnce` runs share the next run and its result.
 * There is no timer, so a single request starts at once. A run that fails rejects all its requests.
 */
export function createCoalescer<T>(
  run: (stationIds: readonly string[]) => Promise<T>,
  atOnce: number,
): (stationIds: readonly string[]) => Promise<T> {
  const waiting: Waiting<T>[] = [];
  let running = 0;

  /** The first requests, of no more stations than one run takes, and those stations, each once. */
  const take = (): { together: Waiting<T>[]; stations: Set<string> } => {
    let stations = new Set<string>();
    let count = 0;
    for (const { stationIds } of waiting) {
      const joined = new Set([...stations, ...stationIds]);
      if (count > 0 && joined.size > stationsMax) break;
      stations = joined;
      count += 1;
    }
    return { together: waiting.splice(0, count), stations };
  };

  const pump = (): void => {
    while (waiting.length > 0 && running < atOnce) {
      const { together, stations } = take();
      running += 1;
      void run([...stations])
        .then(
          (result) => together.forEach(({ resolve }) => resolve(result)),
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
