import { LRUCache } from "lru-cache";
import { pickEncoding } from "#api/http/encoding.ts";
import { sendJsonSlices } from "#api/http/respond.ts";
import type { ApiContext } from "#api/http/route.ts";
import { presentList } from "#api/stations/presenters.ts";
import { listHead, type ListRest, listTail } from "#snapshots/model/envelope.ts";
import { gzipMember, packPieces, type Packed } from "#snapshots/model/gzip-stitch.ts";
import type { Answer } from "#snapshots/model/queries.ts";

/** Lists of stations as gzip, put together from what is deflated already. */
export interface GzipListCache {
  /** The list envelope around `answer`, in pieces of one gzip member. `name` says what its content is: its ETag. */
  gzip(name: string, answer: Answer, rest: ListRest): Promise<Buffer[]>;
  /** Sends `answer` as JSON: gzip unless brotli or nothing is wanted more. */
  send(ctx: ApiContext, name: string, answer: Answer, rest: ListRest): Promise<void>;
}

/** Fewer stations are shorter than what packing them is worth. */
const fewest = 3;

const budgetBytes = 8 << 20;
const largestBytes = 1 << 20;
/** What an entry costs beside its blocks. */
const overhead = 500;

/**
 * Remembers the packed stations of what was asked for last, without the envelope, whose `as_of` moves on each second.
 * Content is the name, so nothing remembered is ever out of date.
 */
export function createGzipListCache(): GzipListCache {
  const cache = new LRUCache<string, Packed>({
    maxSize: budgetBytes,
    maxEntrySize: largestBytes,
    sizeCalculation: ({ blocks }) => blocks.reduce((sum, { length }) => sum + length, overhead),
  });

  const gzip: GzipListCache["gzip"] = async (name, answer, rest) => {
    let packed = cache.get(name);
    if (packed === undefined) cache.set(name, (packed = await packPieces(answer.pieces())));
    return gzipMember(listHead, packed, listTail(rest));
  };

  return {
    gzip,
    async send(ctx, name, answer, rest) {
      // Between equals gzip: most of it lies ready, brotli would have to be made for each answer.
      const encoding = pickEncoding(ctx.headers["accept-encoding"], ["gzip", "br"]);
      if (encoding !== "gzip" || answer.count < fewest)
        sendJsonSlices(ctx, presentList(answer.pieces(), rest));
      else sendJsonSlices(ctx, await gzip(name, answer, rest), "gzip");
    },
  };
}
