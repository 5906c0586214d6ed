import { LRUCache } from "lru-cache";
import { compressPieces, compressQuickly, pickEncoding } from "#api/http/negotiation.ts";
import type { ApiContext } from "#api/http/route.ts";
import {
  inPieces,
  isUnchanged,
  type ListHead,
  presentList,
  sendAs,
  sendList,
} from "#api/stations/format.ts";
import { forms, wholeList } from "#snapshots/model/forms.ts";
import { gzipMember, packPieces, type Packed } from "#snapshots/model/gzip-stitch.ts";
import { giveBack } from "#snapshots/model/long-buffers.ts";
import type { Coding } from "#snapshots/rectangles/rectangle-store.ts";
import type { Answer } from "#snapshots/model/queries.ts";

/** A list of stations that was found for an answer, not yet written. */
export interface List extends ListHead {
  answer: Answer;
}

/** Fewer stations are too short to be worth packing. */
const fewest = 3;

/** When this part of a list is deflated already, gzip of the rest costs less than brotli of the whole. */
const readyPart = 0.4;

const budgetBytes = 8 << 20;
const largestBytes = 1 << 20;
/** Bytes of an entry beside its blocks. */
const overhead = 500;

/**
 * Packs lists of stations: gzip is joined from deflated blocks, or made anew. The packed stations of the last lists are
 * remembered without the envelope, whose `as_of` moves on each second. Their name is the ETag, which follows from
 * content and form, so nothing remembered is ever out of date.
 */
export function createListPacker() {
  const cache = new LRUCache<string, Packed>({
    maxSize: budgetBytes,
    maxEntrySize: largestBytes,
    sizeCalculation: ({ blocks }) => blocks.reduce((sum, { length }) => sum + length, overhead),
  });

  /** The list in pieces of one gzip member. */
  const gzip = async ({ etag, answer, rest, format }: List): Promise<Buffer[]> => {
    const { head, tail } = forms[format];
    let packed = cache.get(etag);
    if (packed === undefined) cache.set(etag, (packed = await packPieces(answer.pieces(), format)));
    return gzipMember(head, packed, tail(rest));
  };

  return {
    gzip,
    /** Packs the list once for many callers, if possible in a coding that is accepted. `plain` is for one who takes no other. */
    pack(list: List, accepted: string | undefined) {
      const takes = (coding: Coding): boolean => pickEncoding(accepted, [coding]) === coding;
      const coding = pickEncoding(accepted) === "gzip" ? "gzip" : "br";
      if (list.answer.isLong()) {
        const { pieces } = inPieces(list.answer, list.rest, list.format);
        return { coding, body: compressPieces(pieces, coding).then(Buffer.concat) } as const;
      }
      const isBrOnly = takes("br") && !takes("gzip");
      const ready = isBrOnly ? 0 : list.answer.deflatedShare();
      if (ready > (coding === "gzip" ? 0 : readyPart)) {
        const body = gzip(list).then((parts) => Buffer.concat(parts));
        return { coding: "gzip" as const, body, plain: () => plainSlices(list) };
      }
      // Brotli costs less to make than gzip.
      const plain = wholeList(list.answer, list.rest, list.format);
      // A caller that takes no coding gets `plain` itself, so it is not given back here.
      const body = compressQuickly(plain, coding).finally(() => takes(coding) && giveBack(plain));
      return { coding, body, plain: () => [plain] } as const;
    },
    /** Sends the list, or 304: as gzip, unless the caller prefers brotli or no coding. */
    send(ctx: ApiContext, list: List): Promise<void> | void {
      const { answer, rest, format } = list;
      if (isUnchanged(ctx, list.etag, rest.asOfMs)) return undefined;
      // CSV is rare and dear: a few stations are written in each turn.
      if (format === "csv" || answer.isLong()) return sendAs(ctx, format, answer, rest);
      const isPacked = answer.count >= fewest;
      return sendList(ctx, list, {
        // Gzip wins between equals: most of it lies ready, brotli would have to be made for each answer.
        offers: isPacked ? ["gzip", "br"] : [],
        coded: (coding) => (isPacked && coding === "gzip" ? gzip(list) : null),
        plain: () => plainSlices(list),
      });
    },
  };
}

/** A list without coding: JSON in pieces of the blocks' bytes, other forms in one buffer. */
const plainSlices = ({ answer, rest, format }: List): Buffer[] =>
  format === "json" ? presentList(answer.pieces(), rest) : [wholeList(answer, rest, format)];
