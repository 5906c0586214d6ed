import { hash } from "node:crypto";
import type { SnapshotVersion } from "#snapshots/dumps/versioned-store.ts";
import { listHead, listTail, makeCursor } from "#snapshots/model/forms.ts";
import { brotliEnd, brotliOf } from "#snapshots/dumps/brotli-stitch.ts";
import { createChunkPacker, chunksOf } from "#snapshots/dumps/chunks.ts";
import { type Filters, filtersKey, filtersOf } from "#snapshots/model/filters.ts";
import { gzipMember, type Packed } from "#snapshots/model/gzip-stitch.ts";
import type { ReadModel } from "#snapshots/model/model.ts";

/** The stations that a dump holds: the first page, `limit` long, of those that pass. */
export interface DumpSet {
  filters: Filters;
  limit: number;
}

/** The same text for every spelling of the same set. */
export const setKey = ({ filters, limit }: DumpSet): string => `${limit} ${filtersKey(filters)}`;

/** The set of a `setKey`; null for a text that is none. */
export function setOf(key: string): DumpSet | null {
  try {
    const space = key.indexOf(" ");
    const set = { filters: filtersOf(key.slice(space + 1)), limit: Number(key.slice(0, space)) };
    return setKey(set) === key && Number.isInteger(set.limit) ? set : null;
  } catch {
    return null;
  }
}

/** A short name, the same for every spelling of the same set. */
export const setName = (set: DumpSet): string =>
  hash("sha1", setKey(set), "base64url").slice(0, 16);

/** The content of a list: equal `count` and `sum` mean equal stations. */
export interface Whole {
  /** Stations of the whole set, on all its pages. */
  count: number;
  /** Sum of their digests. */
  sum: string;
}

/** The facts about a dump that are known without reading it. */
export interface DumpHead extends SnapshotVersion, Whole {}

/** The first page of a set in the envelope of docs/contract.md 2.3, compressed once for all processes. */
export interface Dump extends DumpHead {
  gzip: Buffer;
  /** Empty in a dump without brotli. */
  br: Buffer;
}

/** The source of a dump. Times in ms. */
export interface DumpSource {
  model: ReadModel;
  seq: number;
  asOfMs: number;
  now: number;
  lifetimeMs: number;
}

/** The longest page of /stations/all (docs/contract.md 4.2): a larger country is never asked for in one piece. */
export const longestPage = 30_000;

const wholeCountry: DumpSet = { filters: {}, limit: longestPage };

/** A dump without its end, which is the only part with the time. */
interface Content {
  whole: Whole;
  /** Stations of the page. */
  count: number;
  /** Id of the last of them when more follow, else "". */
  next: string;
  gzip: Packed;
  br: Buffer | null;
}

export type DumpBuilder = ReturnType<typeof createDumpBuilder>;

/**
 * Builds the dumps of one set, one after the other, and remembers the compressed parts. For equal content only
 * the end is written anew; for changed content gzip deflates the changed chunks, and brotli starts again.
 */
export function createDumpBuilder({ filters, limit }: DumpSet = wholeCountry) {
  const pack = createChunkPacker();
  let content: Content | null = null;

  const compress = async (model: ReadModel, now: number, brotli: boolean): Promise<Content> => {
    const page = model.page({ filters, after: "", limit, now });
    const chunks = chunksOf(page.stations());
    // Both are made at once: each has a thread of its own.
    const [gzip, br] = await Promise.all([
      pack(chunks),
      brotli ? brotliOf(listHead, chunks) : null,
    ]);
    return { whole: page.whole, count: page.count, next: page.next, gzip, br };
  };
  const isCurrent = ({ count, sum }: Whole, brotli: boolean): boolean =>
    content?.whole.count === count && content.whole.sum === sum && !(brotli && content.br === null);

  return {
    /**
     * The dump as of `now`, also in brotli when that is wanted; later changes do not get into it. Its cursor leads to
     * pages that the web processes answer themselves. One call at a time.
     */
    async build(
      { model, seq, asOfMs, now, lifetimeMs }: DumpSource,
      brotli: boolean,
    ): Promise<Dump> {
      if (!isCurrent(model.whole(now, filters), brotli))
        content = await compress(model, now, brotli);
      const { whole, count, next, gzip, br } = content as Content;
      const nextCursor =
        next === "" ? "" : makeCursor({ after: next, asOfMs }, filtersKey(filters));
      const tail = listTail({ count, asOfMs, lifetimeMs, truncated: false, nextCursor });
      return {
        ...{ seq, asOfMs, builtAtMs: now, ...whole },
        gzip: Buffer.concat(gzipMember(listHead, gzip, tail)),
        br: br === null ? Buffer.alloc(0) : Buffer.concat([br, brotliEnd(tail)]),
      };
    },
  };
}
