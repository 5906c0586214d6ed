import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { pickEncoding } from "#api/encoding.ts";
import type { ApiRequest, Reply } from "#api/route.ts";
import type { Area } from "#snapshots/area.ts";
import type { ReadModel } from "#snapshots/model.ts";
import { createRectangleStore } from "#snapshots/rectangle-store.ts";
import type { Config } from "#src/config.ts";
import type { Follower } from "#src/follower.ts";
import type { KeyInfo } from "#src/keys.ts";
import type { Redis } from "#src/redis.ts";

/** The shared cache of rectangles for publishable keys (partner-api.md 8, decisions.md 8). */
export interface Rectangles {
  /**
   * Waits until this process has applied what marks had announced when the request was counted; at most a second.
   * True when the cache may be asked and filled.
   */
  catchUp(request: ApiRequest): Promise<boolean>;
  /** The stored answer of this content, or the one that `present` makes, stored. Says which in `X-Service-Cache`. */
  serve(asked: Asked, present: () => Reply | Promise<Reply>): Promise<Reply>;
  /** How often `serve` found an answer, and how often it had none. */
  served(): { hits: number; misses: number };
}

interface Asked {
  request: ApiRequest;
  /** The answer's ETag: a hash of rectangle, filters, form and content. */
  etag: string;
  area: Area;
  now: number;
}

const patienceMs = 1000;
const shortestMs = 20;
const zip = promisify(gzip);
const unzip = promisify(gunzip);

/** `beforeStore` is for tests: what happens between the making of an answer and its storing. */
export function createRectangles(deps: {
  config: Config;
  redis: Redis;
  model: Pick<ReadModel, "nextInside">;
  follower: Pick<Follower, "seq" | "refresh">;
  beforeStore?: (() => Promise<void>) | undefined;
}): Rectangles {
  const { config, redis, model, follower, beforeStore } = deps;
  const store = createRectangleStore(redis, config.redisPrefix, config.cacheBytes);
  let reached = 0;
  let gaveUpAt = -Infinity;
  let hits = 0;
  let misses = 0;

  const ttlMs = ({ kind, partner }: KeyInfo): number =>
    kind === "secret" ? 0 : (partner.cacheTtlS ?? config.cacheTtlS) * 1000;

  /** What is written to the store: the form's name, a line feed, the gzipped body. */
  const keep = async (name: string, reply: Reply, lifeMs: number): Promise<Buffer | null> => {
    const { body, headers } = reply;
    if (!Buffer.isBuffer(body) || lifeMs < shortestMs) return null;
    const entry = Buffer.concat([
      Buffer.from(`${headers?.["Content-Type"] ?? ""}\n`),
      await zip(body),
    ]);
    if (entry.length > config.cacheBodyBytes) return null;
    await beforeStore?.();
    await store.save(name, entry, lifeMs).catch(() => {});
    return entry;
  };

  return {
    served: () => ({ hits, misses }),
    async catchUp({ key, seq }) {
      if (key.kind === "secret" || seq === null) return false;
      if (Math.max(follower.seq(), reached) < seq) {
        // A frozen database must not make every caller wait.
        if (performance.now() - gaveUpAt < patienceMs) return false;
        const read = await inTime(
          follower.refresh().then(
            () => true,
            () => false,
          ),
        );
        if (read === null) gaveUpAt = performance.now();
        if (read !== true) return false;
        // After a restore the database's numbers may lie below: what was read is all there is.
        reached = Math.max(reached, seq);
      }
      return ttlMs(key) > 0;
    },
    async serve({ request, etag, area, now }, present) {
      const lifeMs = ttlMs(request.key);
      // Content is part of the name: what a mark made stale cannot be asked for any more, whoever stores it when.
      const name = `${lifeMs / 1000}:${etag.replaceAll(/^W\/|"/g, "")}`;
      const found = await store.load(name).catch(() => null);
      if (found !== null) {
        hits += 1;
        return send(request, found, { "X-Service-Cache": "hit" });
      }
      misses += 1;
      const untilMs = model.nextInside(area, now) - now;
      const reply = await present();
      const kept = await keep(name, reply, Math.min(lifeMs, untilMs));
      return kept === null ? reply : send(request, kept, reply.headers ?? {});
    },
  };
}

/** An entry as an answer; to those who do not take gzip it is unpacked. */
async function send(
  request: ApiRequest,
  entry: Buffer,
  headers: Record<string, string>,
): Promise<Reply> {
  const end = entry.indexOf("\n");
  const type = entry.toString("latin1", 0, end);
  const named = type === "" ? headers : { ...headers, "Content-Type": type };
  const zipped = entry.subarray(end + 1);
  const encoding = pickEncoding(request.headers["accept-encoding"], ["gzip"]);
  if (encoding === "identity") return { headers: named, body: await unzip(zipped) };
  return { headers: { ...named, "Content-Encoding": "gzip" }, body: zipped };
}

/** Null when it takes longer than `patienceMs`. */
async function inTime(read: Promise<boolean>): Promise<boolean | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), patienceMs);
  });
  const done = await Promise.race([read, late]);
  clearTimeout(timer);
  return done;
}
