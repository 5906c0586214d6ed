import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { Config } from "#src/config.ts";
import type { Log } from "#src/log.ts";
import { createWorkerRedis, type Redis } from "#src/redis.ts";
import type { Dump } from "#snapshots/dump.ts";
import { createDumpStore } from "#snapshots/dump-store.ts";

export interface LatestDump {
  /** Looks for a dump and keeps looking. Does not wait for Redis. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /**
   * The newest dump, when it may be served at `now`: at most a slot and a half behind (decisions.md 7), or older
   * but of the same content as `whole`, the model's. Null: answer from the model.
   */
  current(whole: { count: number; sum: string }, now: number): Dump | null;
  /** The dump's plain JSON; kept until the next dump. */
  plain(dump: Dump): Promise<Buffer>;
  /** For `/readyz`: whether dumps arrive. */
  condition(now: number): { ok: boolean; detail?: unknown };
}

const unzip = promisify(gunzip);

/** The newest dump in memory, woken by the store's channel; a poll is the guarantee. */
export function createLatestDump(deps: { config: Config; log: Log; redis: Redis }): LatestDump {
  const { config, log, redis } = deps;
  const store = createDumpStore(redis, config.redisPrefix, 0);
  const behindMs = config.slotMs * 1.5;
  const staleMs = config.dumpMaxAgeMs + config.slotMs * 1.5;
  let latest: Dump | null = null;
  let json: { of: Dump; text: Promise<Buffer> } | null = null;
  let subscriber: Redis | null = null;
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | null = null;

  const look = async (): Promise<void> => {
    const head = await store.head();
    const known =
      latest !== null && head?.sum === latest.sum && head.builtAtMs === latest.builtAtMs;
    if (head !== null && !known) latest = (await store.load()) ?? latest;
  };
  const refresh = (): Promise<void> => {
    looking ??= look()
      .catch((error: unknown) =>
        log.debug({ err: (error as Error).message }, "no look at the dump"),
      )
      .finally(() => (looking = null));
    return looking;
  };

  return {
    start: async () => {
      subscriber = createWorkerRedis(config, log);
      subscriber.on("message", () => void refresh());
      subscriber
        .subscribe(store.channel)
        .catch((error: unknown) => log.debug({ err: (error as Error).message }, "not subscribed"));
      timer = setInterval(() => void refresh(), config.slotMs / 2);
      await refresh();
    },
    stop: async () => {
      clearInterval(timer);
      subscriber?.disconnect();
      await looking;
    },
    current(whole, now) {
      if (latest === null) return null;
      if (now - latest.asOfMs <= behindMs) return latest;
      const same = latest.count === whole.count && latest.sum === whole.sum;
      return same && now - latest.builtAtMs <= staleMs ? latest : null;
    },
    plain(dump) {
      if (json?.of !== dump) json = { of: dump, text: unzip(dump.gzip) };
      return json.text;
    },
    condition(now) {
      if (latest === null) return { ok: false, detail: "none yet" };
      const ageMs = now - latest.builtAtMs;
      return { ok: ageMs <= staleMs, detail: { seq: latest.seq, age_s: Math.round(ageMs / 1000) } };
    },
  };
}
