import { setTimeout as sleep } from "node:timers/promises";
import type { Condition } from "#src/infrastructure/parts.ts";
import type { Services } from "#api/http/services.ts";
import {
  createModelSnapshotStore,
  type ModelSnapshotStore,
} from "#snapshots/dumps/model-snapshot.ts";
import { formatTime } from "#src/domain/time.ts";
import { pauseMs } from "#src/domain/units.ts";

/** The loading of what a web process serves. */
export interface StartUp {
  /** Resolves when reads can be answered: from the database, or while that is away from the latest model snapshot. */
  start(): Promise<void>;
  /** For `/readyz`: not ok while a snapshot stands in for the database. */
  condition(): Condition;
  stop(): Promise<void>;
}

type Deps = Pick<Services, "config" | "log" | "redis" | "cities" | "keys" | "follower">;

const firstPauseMs = 200;
const longestPauseMs = 2000;

export function createStartUp(services: Deps): StartUp {
  const { config, log, redis, cities, keys, follower } = services;
  const store = createModelSnapshotStore(redis, config.redisPrefix, 0);
  const end = new AbortController();
  let running: Promise<void> = Promise.resolve();
  let from: string | null = null;

  const load = async (ready: () => void): Promise<void> => {
    for (const part of [cities, follower]) {
      for (let tries = 0; !end.signal.aborted; tries += 1) {
        try {
          await part.start();
          break;
        } catch (error) {
          log.debug({ err: (error as Error).message }, "not loaded yet");
        }
        if (!follower.loaded()) await resume(store).catch(() => {});
        if (follower.loaded()) ready();
        const pause = pauseMs(tries, firstPauseMs, longestPauseMs);
        await sleep(pause, undefined, { signal: end.signal }).catch(() => {});
      }
    }
    ready();
  };

  const resume = async ({ load: read }: ModelSnapshotStore): Promise<void> => {
    const found = await read();
    if (found === null || end.signal.aborted) return;
    cities.preload(found.cities);
    await keys.exchange();
    follower.resume(found);
    from = formatTime(found.builtAtMs);
    log.warn(
      { made: from, seq: found.seq, stations: found.rows.length },
      "the database is away, serving from the latest snapshot",
    );
  };

  return {
    start: () =>
      new Promise((ready, fail) => {
        running = load(ready);
        running.catch(fail);
      }),
    condition: () =>
      from === null || follower.readAt() > 0
        ? { ok: true }
        : { ok: false, says: [{ code: "from-snapshot", time: from }] },
    stop: async () => {
      end.abort();
      await running.catch(() => {});
    },
  };
}
