import type { Config } from "#src/infrastructure/config.ts";
import type { Dump } from "#snapshots/dumps/dump.ts";
import type { DumpStore } from "#snapshots/dumps/dump-store.ts";

/** The content of a list: equal `count` and `sum` mean equal stations. */
export interface Whole {
  count: number;
  sum: string;
}

/** The newest dump of one set, in memory. */
export interface HeldDump {
  /** Looks into the store; rejects while Redis is away. */
  look(): Promise<void>;
  latest(): Dump | null;
  /**
   * The dump, when it may be served at `now`: at most a slot and a half behind (decisions.md 7), or older but of
   * the same content as the model's. Null: answer from the model.
   */
  current(whole: () => Whole, now: number): Dump | null;
}

/** After how long without a new version dumps are taken to have stopped, ms. */
export const staleAfterMs = (config: Config): number => config.dumpMaxAgeMs + config.slotMs * 1.5;

export function createHeldDump(config: Config, store: DumpStore): HeldDump {
  const behindMs = config.slotMs * 1.5;
  let latest: Dump | null = null;
  return {
    async look() {
      const head = await store.head();
      const known =
        latest !== null && head?.sum === latest.sum && head.builtAtMs === latest.builtAtMs;
      if (head !== null && !known) latest = (await store.load()) ?? latest;
    },
    latest: () => latest,
    current(whole, now) {
      if (latest === null) return null;
      if (now - latest.asOfMs <= behindMs) return latest;
      if (now - latest.builtAtMs > staleAfterMs(config)) return null;
      const { count, sum } = whole();
      return latest.count === count && latest.sum === sum ? latest : null;
    },
  };
}
