import { pickEncoding } from "#api/http/encoding.ts";
import { presentList } from "#api/stations/presenters.ts";
import type { ApiRequest, Reply } from "#api/http/route.ts";
import { listHead, type ListRest, listTail } from "#snapshots/model/envelope.ts";
import { gzipMember, packPieces, type Packed } from "#snapshots/model/gzip-stitch.ts";
import type { Answer } from "#snapshots/model/queries.ts";

/** Lists of stations as gzip, put together from what is deflated already. */
export interface GzipListCache {
  /** The list envelope around `answer`, in pieces of one gzip member. `name` says what its content is: its ETag. */
  gzip(name: string, answer: Answer, rest: ListRest): Promise<Buffer[]>;
  /** `answer` as JSON to this request: gzip unless brotli or nothing is wanted more. */
  present(request: ApiRequest, name: string, answer: Answer, rest: ListRest): Present;
}

type Present = Reply | Promise<Reply>;
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
  const lately = new Map<string, Packed>();
  let used = 0;
  const sizeOf = ({ blocks }: Packed): number =>
    blocks.reduce((sum, { length }) => sum + length, overhead);

  const remember = (name: string, packed: Packed): void => {
    const size = sizeOf(packed);
    if (size > largestBytes || lately.has(name)) return;
    lately.set(name, packed);
    used += size;
    for (const [oldest, one] of lately) {
      if (used <= budgetBytes) break;
      lately.delete(oldest);
      used -= sizeOf(one);
    }
  };

  const gzip: GzipListCache["gzip"] = async (name, answer, rest) => {
    const known = lately.get(name);
    const packed = known ?? (await packPieces(answer.pieces()));
    if (known === undefined) remember(name, packed);
    else {
      // Those asked for longest ago go first.
      lately.delete(name);
      lately.set(name, known);
    }
    return gzipMember(listHead, packed, listTail(rest));
  };

  return {
    gzip,
    present({ headers }, name, answer, rest) {
      // Between equals gzip: most of it lies ready, brotli would have to be made for each answer.
      const encoding = pickEncoding(headers["accept-encoding"], ["gzip", "br"]);
      if (encoding !== "gzip" || answer.count < fewest) return presentList(answer.pieces(), rest);
      return gzip(name, answer, rest).then((slices) => ({
        slices,
        headers: { "Content-Encoding": "gzip" },
      }));
    },
  };
}
