import { LRUCache } from "lru-cache";
import { compressQuickly, pickEncoding } from "#api/http/encoding.ts";
import { sendJsonSlices } from "#api/http/respond.ts";
import type { ApiContext } from "#api/http/route.ts";
import { sendAs, setFormat } from "#api/stations/format.ts";
import { presentList } from "#api/stations/presenters.ts";
import type { ListRest } from "#snapshots/model/envelope.ts";
import { type Format, forms, wholeList } from "#snapshots/model/forms.ts";
import { gzipMember, packPieces, type Packed } from "#snapshots/model/gzip-stitch.ts";
import { giveBack } from "#snapshots/model/long-buffers.ts";
import type { Coding } from "#snapshots/rectangles/rectangle-store.ts";
import type { Answer } from "#snapshots/model/queries.ts";

/** Packs lists of stations: gzip put together from what is deflated already, or anew. */
export interface ListPacker {
  /**
   * `answer` in that form, JSON where nothing is said, in pieces of one gzip member. `name` says what content and form
   * are: the ETag.
   */
  gzip(name: string, answer: Answer, rest: ListRest, format?: Format): Promise<Buffer[]>;
  /** `answer` packed anew, and as it is: in a buffer that comes back when it is packed (see long-buffers.ts). */
  pack(
    answer: Answer,
    rest: ListRest,
    format: Format,
    coding: Coding,
  ): { plain: Buffer; body: Promise<Buffer> };
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
export function createListPacker(): ListPacker {
  const cache = new LRUCache<string, Packed>({
    maxSize: budgetBytes,
    maxEntrySize: largestBytes,
    sizeCalculation: ({ blocks }) => blocks.reduce((sum, { length }) => sum + length, overhead),
  });

  const gzip: ListPacker["gzip"] = async (name, answer, rest, format = "json") => {
    const { head, tail } = forms[format];
    let packed = cache.get(name);
    if (packed === undefined) cache.set(name, (packed = await packPieces(answer.pieces(), format)));
    return gzipMember(head, packed, tail(rest));
  };

  return {
    gzip,
    pack(answer, rest, format, coding) {
      const plain = wholeList(answer, rest, format);
      return { plain, body: compressQuickly(plain, coding).finally(() => giveBack(plain)) };
    },
    async send(ctx, name, answer, rest, format = "json") {
      // For few, and dear: written a few stations at a turn.
      if (format === "csv") return sendAs(ctx, format, answer, rest);
      // Between equals gzip: most of it lies ready, brotli would have to be made for each answer.
      const encoding = pickEncoding(ctx.headers["accept-encoding"], ["gzip", "br"]);
      if (encoding !== "gzip" || answer.count < fewest)
        sendJsonSlices(ctx, plainSlices(answer, rest, format));
      else sendJsonSlices(ctx, await gzip(name, answer, rest, format), "gzip");
      setFormat(ctx, format, rest);
    },
  };
}

/** A list as it is: JSON in pieces of what is there, other forms in one buffer. */
const plainSlices = (answer: Answer, rest: ListRest, format: Format): Buffer[] =>
  format === "json" ? presentList(answer.pieces(), rest) : [wholeList(answer, rest, format)];
