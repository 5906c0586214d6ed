import { LRUCache } from "lru-cache";
import { pickEncoding } from "#api/http/encoding.ts";
import { sendJsonSlices } from "#api/http/respond.ts";
import type { ApiContext } from "#api/http/route.ts";
import { sendAs, setFormat } from "#api/stations/format.ts";
import type { ListRest } from "#snapshots/model/envelope.ts";
import { type Form, type Format, forms } from "#snapshots/model/forms.ts";
import { gzipMember, packPieces, type Packed } from "#snapshots/model/gzip-stitch.ts";
import { borrowJoined, giveBack } from "#snapshots/model/long-buffers.ts";
import type { Answer } from "#snapshots/model/queries.ts";

/** Lists of stations as gzip, put together from what is deflated already. */
export interface GzipListCache {
  /**
   * `answer` in that form, JSON where nothing is said, in pieces of one gzip member. `name` says what content and form
   * are: the ETag.
   */
  gzip(name: string, answer: Answer, rest: ListRest, format?: Format): Promise<Buffer[]>;
  /** Sends `answer` in that form: gzip unless brotli or nothing is wanted more. */
  send(
    ctx: ApiContext,
    name: string,
    answer: Answer,
    rest: ListRest,
    format?: Format,
  ): Promise<void>;
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

  const gzip: GzipListCache["gzip"] = async (name, answer, rest, format = "json") => {
    const { head, tail } = forms[format];
    let packed = cache.get(name);
    if (packed === undefined) cache.set(name, (packed = await packPieces(answer.pieces(), format)));
    return gzipMember(head, packed, tail(rest));
  };

  return {
    gzip,
    async send(ctx, name, answer, rest, format = "json") {
      // For few, and dear: written a few stations at a turn.
      if (format === "csv") return sendAs(ctx, format, answer, rest);
      // Between equals gzip: most of it lies ready, brotli would have to be made for each answer.
      const encoding = pickEncoding(ctx.headers["accept-encoding"], ["gzip", "br"]);
      if (encoding !== "gzip" || answer.count < fewest)
        sendJsonSlices(ctx, plain(answer, rest, forms[format]));
      else sendJsonSlices(ctx, await gzip(name, answer, rest, format), "gzip");
      setFormat(ctx, format, rest);
    },
  };
}

/** Stations in another form than JSON are made in one buffer, which is given back once it is sent. */
function plain(answer: Answer, rest: ListRest, { head, write, tail }: Form): Buffer[] {
  const pieces = answer.pieces().map(({ bytes }) => bytes);
  if (write === forms.json.write || pieces.length === 0) return [head, ...pieces, tail(rest)];
  const joined = borrowJoined(pieces);
  const written = write(joined);
  giveBack(joined);
  return [head, written, tail(rest)];
}
