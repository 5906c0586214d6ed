import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import type { Condition } from "#src/infrastructure/parts.ts";
import { ageOf, isYoung } from "#src/domain/age.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { createPolled } from "#src/infrastructure/polled.ts";
import { createWorkerRedis, type Redis } from "#src/infrastructure/redis.ts";
import { createRequestedSets, rememberedMs } from "#snapshots/dumps/requested-sets.ts";
import { type Dump, type DumpSet, setName, type Whole } from "#snapshots/dumps/dump.ts";
import { createDumpStore, type DumpStore } from "#snapshots/dumps/dump-store.ts";
import type { Resources } from "#src/infrastructure/resources.ts";

export type LatestDump = ReturnType<typeof createLatestDump>;

const chunkSize = 1 << 17;
const sizeOf = (dump: Dump | null): number => (dump?.gzip.length ?? 0) + (dump?.br.length ?? 0);

interface Deps extends Pick<Resources, "config" | "log" | "clock" | "redis"> {
  /** The `as_of` of answers from the model. */
  asOf(now: number): number;
}

/** Keeps the newest dumps in memory. The store's channel wakes it, a poll is the guarantee. */
export function createLatestDump({ config, log, clock, redis, asOf }: Deps) {
  const { redisPrefix: prefix } = config;
  const hold = (name?: string) =>
    createHeldDump(config, createDumpStore(redis, prefix, 0, name), asOf);
  const main = hold();
  const requested = createRequestedSets(redis, prefix, config.askedSets);
  /** The set requested for last stands last. Not an LRU cache: a dump's size changes while it is held. */
  const sets = new Map<string, { held: HeldDump; askedAt: number }>();
  const heldSets = (): HeldDump[] => [...sets.values()].map(({ held }) => held);
  let subscriber: Redis | null = null;

  /** Drops the sets that nobody asks for any more, and those whose last request is the oldest, until the rest fits. */
  const shrink = (): void => {
    let bytes = heldSets().reduce((sum, held) => sum + sizeOf(held.latest()), 0);
    const forgottenAt = clock() - rememberedMs;
    for (const [name, { held, askedAt }] of sets) {
      const fits = sets.size <= config.askedSets && bytes <= config.askedSetsBytes;
      if (fits && askedAt > forgottenAt) break;
      bytes -= sizeOf(held.latest());
      sets.delete(name);
    }
  };
  const look = async (): Promise<void> => {
    const looks = [main, ...heldSets()].map((held) => held.look());
    await Promise.all([requested.flush(), ...looks]);
    shrink();
  };
  const onError = (err: string): void => log.debug({ err }, "no look at the dumps");
  const ignore = (error: Error): void => onError(error.message);
  const looks = createPolled({ everyMs: Math.min(config.slotMs / 2, 2000), look, onError });

  const ageMs = (now: number): number | null => {
    const latest = main.latest();
    return latest === null ? null : ageOf(latest.builtAtMs, now);
  };

  return {
    /** Looks for dumps and keeps looking. Does not wait for Redis. */
    async start() {
      const listener = createWorkerRedis(config, log);
      subscriber = listener;
      // A failure when ioredis subscribes again by itself is an unhandled rejection, which ends the process.
      listener.options.autoResubscribe = false;
      const { channel } = createDumpStore(redis, prefix, 0);
      listener.on("message", (_channel, name: string) => {
        const held = name === "" ? main : sets.get(name)?.held;
        held?.look().then(shrink, ignore);
      });
      listener.on("ready", () => {
        listener
          .subscribe(channel)
          .catch((error: Error) => log.debug({ err: error.message }, "not subscribed"));
      });
      await looks.start();
    },
    async stop() {
      subscriber?.disconnect();
      await looks.stop();
    },
    /** The whole country's dump when it may be served at `now` (see `createHeldDump`), else null. */
    complete: (whole: () => Whole, now: number) => main.current(whole, now),
    /**
     * The same for another set. Null until this process has fetched its dump. The request is noted: the dump of a set
     * that is requested for again is kept ready.
     */
    set(set: DumpSet, whole: () => Whole, now: number): Dump | null {
      requested.note(set, now);
      const name = setName(set);
      const known = sets.get(name)?.held;
      const held = known ?? hold(name);
      sets.delete(name);
      sets.set(name, { held, askedAt: now });
      if (known === undefined) held.look().then(shrink, ignore);
      return held.current(whole, now);
    },
    /** The dump's plain JSON, unpacked as it is taken: it is rarely wanted, and long. Its length stands at gzip's end. */
    plain: ({ gzip }: Dump) => ({
      pieces: unpacked(gzip),
      length: gzip.readUInt32LE(gzip.length - 4),
    }),
    /** Age of the newest dump of the whole country; null without one. */
    ageMs,
    /** For `/readyz`: whether dumps arrive. */
    condition(now: number): Condition {
      const age = ageMs(now);
      if (age === null) return { ok: false, says: [{ code: "none" }] };
      const detail = { seq: main.latest()?.seq, age_s: Math.round(age / 1000), sets: sets.size };
      return { ok: isYoung(age, staleAfterMs(config)), detail };
    },
  };
}

async function* unpacked(gzip: Buffer): AsyncGenerator<Buffer> {
  yield* Readable.from([gzip]).pipe(createGunzip({ chunkSize }));
}

type HeldDump = ReturnType<typeof createHeldDump>;

/** Time without a new version after which dumps count as stopped, ms. */
const staleAfterMs = (config: Config): number => config.dumpMaxAgeMs + config.slotMs * 1.5;

/** The newest dump of one set, in memory. */
function createHeldDump(config: Config, store: DumpStore, asOf: Deps["asOf"]) {
  const behindMs = config.slotMs * 1.5;
  let latest: Dump | null = null;
  return {
    /** Looks into the store; rejects while Redis is away. */
    async look(): Promise<void> {
      const head = await store.head();
      const isSame = head?.sum === latest?.sum && head?.builtAtMs === latest?.builtAtMs;
      if (head !== null && !isSame) latest = (await store.load()) ?? latest;
    },
    latest: () => latest,
    /**
     * The dump, when it may be served at `now`: it is at most one and a half slots behind (decisions 7), or
     * older, or of the future, with the same content as the model. Null: answer from the model.
     */
    current(whole: () => Whole, now: number): Dump | null {
      if (latest === null) return null;
      if (isYoung(ageOf(latest.asOfMs, now), behindMs)) return latest;
      const stale = staleAfterMs(config);
      if (!isYoung(ageOf(latest.builtAtMs, now), stale)) return null;
      // The dump's builder was cut off from the database, and this process is not.
      if (asOf(now) - latest.asOfMs > stale) return null;
      const { count, sum } = whole();
      return latest.count === count && latest.sum === sum ? latest : null;
    },
  };
}
