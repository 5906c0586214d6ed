import { hash } from "node:crypto";
import { promisify } from "node:util";
import { brotliDecompress, constants, gunzip } from "node:zlib";
import { LRUCache } from "lru-cache";
import { compress, type Encoding } from "#api/http/negotiation.ts";
import type { Representation } from "#api/http/respond.ts";
import {
  isCurrent,
  type CacheLookup,
  type Rectangle,
  type RectangleHead,
  type RectangleQuestion,
  type RectangleStore,
} from "#snapshots/rectangles/rectangle-store.ts";
import type { Follower } from "#src/feed/follower.ts";
import { cellsAround } from "#src/feed/cache-generations.ts";
import type { Box } from "#src/domain/geo.ts";
import type { Clock } from "#src/infrastructure/clock.ts";
import type { Config } from "#src/infrastructure/config.ts";
import type { KeyInfo } from "#src/keys/key-store.ts";

/** A rectangle that may be answered from the cache. */
export interface Question extends RectangleQuestion {
  box: Box;
  /** Time for which its answer may be kept, by the partner's setting, ms. */
  lifeMs: number;
}

/** An answer that is being made. */
export interface PendingAnswer {
  head: Omit<RectangleHead, "endsAt">;
  /** Time of its next change by the passing of time, ms. */
  nextAt: number;
  /** Packed in the head's `coding`. */
  body: Promise<Buffer>;
  /** The body for a caller who does not take that coding, where it is at hand. */
  plain?: Representation["plain"];
}

/** An answer that is shared, and its body as it can be sent. */
export interface SharedAnswer extends Representation {
  rectangle: Rectangle;
  isHit: boolean;
}

const shortestMs = 20;
/** Requests whose look-up left before an answer was stored come to it within this time. */
const lookUpMs = 100;
/** Raise it when an older version must not read the entries of this one. */
const entryVersion = 4;

/** The shared cache of rectangles for publishable keys (docs/contract.md 8, decisions 8). */
export function createRectangles(deps: {
  config: Config;
  clock: Clock;
  store: RectangleStore;
  follower: Pick<Follower, "seq" | "refresh">;
}) {
  const { config, clock, store, follower } = deps;
  const recoded = createRecoder();
  const making = new Map<string, Promise<Rectangle>>();
  /** This process has read the feed after it first saw this epoch. */
  let adopted = "";
  let gaveUpAt = -Infinity;
  let hits = 0;
  let misses = 0;

  const isAlive = ({ endsAt }: RectangleHead): boolean => clock() < endsAt;

  /**
   * True when this process has applied all changes from before the look-up in the cache. A process that is behind, or
   * that sees an epoch for the first time, reads the feed first, for `cacheFeedWaitMs` at most.
   */
  const caughtUp = async ({ epoch, generation }: CacheLookup): Promise<boolean> => {
    const isBehind = (): boolean => follower.seq() < generation;
    if (epoch === adopted && !isBehind()) return true;
    // A frozen database must not make every caller wait.
    if (performance.now() - gaveUpAt < config.cacheFeedWaitMs) return false;
    const read = await inTime(
      follower.refresh().then(
        () => true,
        () => false,
      ),
      config.cacheFeedWaitMs,
    );
    if (read === null) gaveUpAt = performance.now();
    if (read !== true) return false;
    adopted = epoch;
    return !isBehind();
  };

  /** Stores an answer, whose making began at `startedAt` with the changes up to `seq`, for all processes. */
  const keep = async (
    { name, lifeMs }: Question,
    at: { epoch: string; seq: number; startedAt: number },
    { head, body, nextAt }: PendingAnswer,
  ): Promise<Rectangle> => {
    const { epoch, seq, startedAt } = at;
    const endsAt = Math.min(startedAt + lifeMs, nextAt);
    const rectangle = { ...head, endsAt, epoch, seq, body: await body };
    const leftMs = endsAt - clock();
    if (leftMs >= shortestMs && rectangle.body.length <= config.cacheBodyBytes)
      await store.save(name, rectangle, leftMs).catch(() => {});
    return rectangle;
  };

  const shared = (rectangle: Rectangle, isHit: boolean): SharedAnswer => ({
    ...{ rectangle, isHit, offers: [rectangle.coding] },
    coded: (coding) => recoded(rectangle, coding),
    plain: () => recoded(rectangle, "identity"),
  });
  const hit = (rectangle: Rectangle): SharedAnswer => {
    hits += 1;
    return shared(rectangle, true);
  };

  return {
    /** The question to the cache for a rectangle of the grid. `parts`: all else that its answer depends on. */
    question(key: KeyInfo, box: Box, parts: readonly unknown[]): Question | null {
      if (key.kind === "secret") return null;
      const lifeS = key.partner.cacheTtlS ?? config.cacheTtlS;
      if (lifeS === 0) return null;
      // The length of life is part of the name: partners must not shorten or lengthen each other's entries.
      const text = JSON.stringify([entryVersion, config.statusLifetimeMs, lifeS, box, parts]);
      const name = hash("sha1", text, "base64url");
      return { box, name, cells: cellsAround(box), lifeMs: lifeS * 1000 };
    },
    /**
     * The stored answer that the look-up has found, or the one that `make` begins, stored for all processes. Null when
     * the cache may be neither read nor filled: without Redis, and in a process that cannot catch up.
     */
    async find(
      question: Question,
      looked: CacheLookup | null,
      make: () => PendingAnswer,
    ): Promise<SharedAnswer | null> {
      if (looked === null) return null;
      const stored = looked.rectangle;
      if (stored !== null && isAlive(stored)) return hit(stored);
      if (!(await caughtUp(looked))) return null;
      const { name } = question;
      // Another request of this process may be making the same, or have made it since this one asked.
      const underWay = making.get(name);
      const joined = underWay === undefined ? null : await underWay.catch(() => null);
      if (joined && isCurrent(joined, looked) && isAlive(joined)) return hit(joined);
      misses += 1;
      // All this is in one turn: the answer holds these changes, and the next request finds it under way.
      const at = { epoch: looked.epoch, seq: follower.seq(), startedAt: clock() };
      const made = make();
      const promise = keep(question, at, made);
      making.set(name, promise);
      const forget = (): void => void (making.get(name) === promise && making.delete(name));
      const forgetLater = (): void => void setTimeout(forget, lookUpMs).unref();
      promise.then(forgetLater, forget);
      const answer = shared(await promise, false);
      return { ...answer, plain: made.plain ?? answer.plain };
    },
    /** The number of answers that `find` found, and of those that it had to make. */
    served: () => ({ hits, misses }),
    store,
  };
}

/** Null when it takes longer than `ms`. */
async function inTime(read: Promise<boolean>, ms: number): Promise<boolean | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms);
  });
  const done = await Promise.race([read, late]);
  clearTimeout(timer);
  return done;
}

const [fromBrotli, fromGzip] = [promisify(brotliDecompress), promisify(gunzip)];
/** Longer than any list. A larger length that comes out of Redis is not believed. */
const chunkMax = 8 << 20;
/** Lists of stations are at most so many times as long as brotli of them. */
const brotliGain = 14;

/** Unpacks in one chunk: zlib's own have 16 KB, each a way to a thread and back. Gzip's length stands at its end. */
function unpacked({ coding, body }: Rectangle): Promise<Buffer> {
  const isGzip = coding === "gzip";
  const length = isGzip ? body.readUInt32LE(body.length - 4) + 1 : body.length * brotliGain;
  const chunkSize = Math.max(constants.Z_MIN_CHUNK, Math.min(length, chunkMax));
  return (isGzip ? fromGzip : fromBrotli)(body, { chunkSize });
}

const keptBytes = 8 << 20;

/** Bodies of the cache in the coding that a caller takes. Recoded bodies are kept for a while. */
function createRecoder(): (rectangle: Rectangle, to: Encoding) => Promise<Buffer> {
  const kept = new LRUCache<string, Buffer>({
    maxSize: keptBytes,
    sizeCalculation: ({ buffer }) => buffer.byteLength + 100,
  });
  return async (rectangle, to) => {
    if (to === rectangle.coding) return rectangle.body;
    const name = `${to} ${rectangle.etag} ${rectangle.asOfMs}`;
    const known = kept.get(name);
    if (known !== undefined) return known;
    const plain = await unpacked(rectangle);
    const body = to === "identity" ? plain : await compress(plain, to);
    kept.set(name, body);
    return body;
  };
}
