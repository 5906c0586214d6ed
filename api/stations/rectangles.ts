import { promisify } from "node:util";
import { constants, gunzip } from "node:zlib";
import { pickEncoding } from "#api/http/encoding.ts";
import { sendJson } from "#api/http/respond.ts";
import type { ApiContext } from "#api/http/route.ts";
import type { Area } from "#snapshots/model/area.ts";
import type { ReadModel } from "#snapshots/model/model.ts";
import { createRectangleStore } from "#snapshots/rectangles/rectangle-store.ts";
import type { Config } from "#src/infrastructure/config.ts";
import type { Follower } from "#src/feed/follower.ts";
import type { KeyInfo } from "#src/keys/key-info.ts";
import type { Redis } from "#src/infrastructure/redis.ts";

/** The shared cache of rectangles for publishable keys (docs/contract.md 8, docs/decisions.md 8). */
export interface Rectangles {
  /**
   * Waits until this process has applied what marks had announced when the request was counted; at most a second.
   * True when the cache may be asked and filled.
   */
  catchUp(ctx: ApiContext): Promise<boolean>;
  /** Sends the stored answer of this content, or what `gzip` makes, stored. Says which in `X-Service-Cache`. */
  serve(ctx: ApiContext, asked: Asked, gzip: () => Promise<Buffer[]>): Promise<void>;
  /** How often `serve` found an answer, and how often it had none. */
  served(): { hits: number; misses: number };
}

interface Asked {
  /** The answer's ETag: a hash of rectangle, filters, form and content. */
  etag: string;
  area: Area;
  now: number;
}

const patienceMs = 1000;
const shortestMs = 20;
const unzip = promisify(gunzip);

/**
 * In one chunk, whose length the gzip member ends with: zlib's own have 16 KB, each a way to a thread and back. The
 * length comes out of Redis, so it is not believed beyond any list that there is.
 */
function unpacked(body: Buffer): Promise<Buffer> {
  const length = Math.min(body.readUInt32LE(body.length - 4), 8 << 20);
  return unzip(body, { chunkSize: Math.max(constants.Z_MIN_CHUNK, length + 1) });
}

/** `beforeStore` is for tests: what happens between the making of an answer and its storing. */
export function createRectangles(deps: {
  config: Config;
  redis: Redis;
  model: Pick<ReadModel, "timesInside">;
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

  /** Not what is too large for the store, or about to change. */
  const keep = async (name: string, body: Buffer, lifeMs: number): Promise<void> => {
    if (lifeMs < shortestMs || body.length > config.cacheBodyBytes) return;
    await beforeStore?.();
    await store.save(name, body, lifeMs).catch(() => {});
  };

  return {
    served: () => ({ hits, misses }),
    async catchUp({ state: { key, quota } }) {
      const { seq } = quota;
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
    async serve(ctx, { etag, area, now }, gzip) {
      const lifeMs = ttlMs(ctx.state.key);
      // Content is part of the name: what a mark made stale cannot be asked for any more, whoever stores it when. And
      // the time of the last change inside: content that comes back does not bring an older answer back.
      const { changedAt, nextAt } = model.timesInside(area, now);
      const name = `${lifeMs / 1000}:${etag.replaceAll(/^W\/|"/g, "")}:${changedAt}`;
      const found = await store.load(name).catch(() => null);
      if (found !== null) {
        hits += 1;
        return send(ctx, found, "hit");
      }
      misses += 1;
      const body = Buffer.concat(await gzip());
      await keep(name, body, Math.min(lifeMs, nextAt - now));
      return send(ctx, body, "miss");
    },
  };
}

/** To those who do not take gzip it is unpacked. */
async function send(ctx: ApiContext, body: Buffer, cache: "hit" | "miss"): Promise<void> {
  ctx.set("X-Service-Cache", cache);
  const isPlain = pickEncoding(ctx.headers["accept-encoding"], ["gzip"]) === "identity";
  if (!isPlain) ctx.set("Content-Encoding", "gzip");
  sendJson(ctx, isPlain ? await unpacked(body) : body);
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
