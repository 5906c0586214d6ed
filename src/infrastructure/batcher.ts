interface QueuedItem<In, Out> {
  item: In;
  resolve: (result: Out) => void;
  reject: (error: unknown) => void;
}

/**
 * Collects items into few runs: items that arrive while `atOnce` runs are active join the next run. There is no timer,
 * so a single item starts at once; with `sameTurn` it waits for other items of the same turn of the event loop.
 *
 * `run` gives a result for each item, in their order; an Error rejects only its item. A run that fails rejects all its
 * items. `max`: greatest weight of one run by `weigh` (by default 1 an item); a heavier item gets its own run.
 */
export function createBatcher<In, Out>(deps: {
  atOnce: number;
  max: number;
  weigh?: (item: In) => number;
  sameTurn?: boolean;
  run: (items: readonly In[]) => Promise<readonly (Out | Error)[]>;
}) {
  const { atOnce, max, weigh = () => 1, sameTurn = false, run } = deps;
  const queued: QueuedItem<In, Out>[] = [];
  const running = new Set<Promise<void>>();
  let starting: NodeJS.Immediate | null = null;

  const take = (): QueuedItem<In, Out>[] => {
    let weight = 0;
    let count = 0;
    for (const { item } of queued) {
      weight += weigh(item);
      if (count > 0 && weight > max) break;
      count += 1;
    }
    return queued.splice(0, count);
  };
  const runOne = async (batch: readonly QueuedItem<In, Out>[]): Promise<void> => {
    try {
      const results = await run(batch.map(({ item }) => item));
      for (const [index, { resolve, reject }] of batch.entries()) {
        const result = results[index]!;
        if (result instanceof Error) reject(result);
        else resolve(result);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  };
  const pump = (): void => {
    while (queued.length > 0 && running.size < atOnce) {
      const done = runOne(take()).finally(() => {
        running.delete(done);
        pump();
      });
      running.add(done);
    }
  };

  return {
    add: (item: In): Promise<Out> =>
      new Promise((resolve, reject) => {
        queued.push({ item, resolve, reject });
        if (!sameTurn) return pump();
        starting ??= setImmediate(() => {
          starting = null;
          pump();
        });
      }),
    /** Waits for active and queued items. */
    drain: async (): Promise<void> => {
      pump();
      while (running.size > 0) await Promise.all(running);
    },
  };
}

const idsMax = 500;

/** Collects lists of ids into runs of at most 500; a longer list is alone. `run` gets each id once. */
export const createIdBatcher = <T>(
  run: (ids: readonly string[]) => Promise<T>,
  atOnce: number,
): ((ids: readonly string[]) => Promise<T>) =>
  createBatcher<readonly string[], T>({
    ...{ atOnce, max: idsMax, weigh: (ids) => ids.length },
    run: async (lists) => {
      const result = await run([...new Set(lists.flat())]);
      return lists.map(() => result);
    },
  }).add;
