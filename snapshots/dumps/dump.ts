import { hash } from "node:crypto";
import { Readable, type Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setImmediate as nextTurn } from "node:timers/promises";
import { constants, createBrotliCompress, createGzip } from "node:zlib";
import type { Version } from "#snapshots/dumps/versioned-store.ts";
import { listHead, listTail, makeCursor } from "#snapshots/model/envelope.ts";
import { type Filters, filtersKey } from "#snapshots/model/filters.ts";
import type { ReadModel } from "#snapshots/model/model.ts";
import { copyInOrder } from "#snapshots/model/selection.ts";

/** The stations that a dump holds: the first page, `limit` long, of those that pass. */
export interface DumpSet {
  filters: Filters;
  limit: number;
}

/** A short name, the same for every spelling of the same set. */
export const setName = ({ filters, limit }: DumpSet): string =>
  hash("sha1", `${limit} ${filtersKey(filters)}`, "base64url").slice(0, 16);

/** The content of a list: equal `count` and `sum` mean equal stations. */
export interface Whole {
  /** Stations of the whole set, on all its pages. */
  count: number;
  /** Sum of their digests. */
  sum: string;
}

/** What is known of a dump without reading it. */
export interface DumpHead extends Version, Whole {}

/** The first page of a set in the envelope of docs/contract.md 2.3, compressed once for all processes. */
export interface Dump extends DumpHead {
  gzip: Buffer;
  br: Buffer;
}

/** Stations written per turn of the event loop. */
const perTurn = 2000;
const chunkSize = 1 << 20;

/** What a dump is built from. Times in ms. */
export interface DumpSource {
  model: ReadModel;
  seq: number;
  asOfMs: number;
  now: number;
  lifetimeMs: number;
}

const wholeCountry: DumpSet = { filters: {}, limit: Infinity };

/**
 * Builds a dump of a set as of `now`, in small steps; later changes do not get into it. Its cursor leads to pages that
 * the web processes answer themselves.
 */
export async function buildDump(
  { model, seq, asOfMs, now, lifetimeMs }: DumpSource,
  { filters, limit }: DumpSet = wholeCountry,
): Promise<Dump> {
  const page = model.page({ filters, after: "", limit, now });
  const sources = [...page.sources()];
  const json: Buffer[] = [listHead];
  for (let from = 0; from < sources.length; from += perTurn) {
    const part = copyInOrder(sources.slice(from, from + perTurn));
    json.push(from + perTurn < sources.length ? part : part.subarray(0, -1));
    await nextTurn();
  }
  const nextCursor =
    page.next === "" ? "" : makeCursor({ after: page.next, asOfMs }, filtersKey(filters));
  json.push(listTail({ count: page.count, asOfMs, lifetimeMs, truncated: false, nextCursor }));
  // Both at once: each has a thread of its own.
  const [gzip, br] = await Promise.all([
    through(json, createGzip({ level: 6, chunkSize })),
    through(json, createBrotliCompress({ chunkSize, params: brotliParams(json) })),
  ]);
  return { seq, asOfMs, builtAtMs: now, ...page.whole, gzip, br };
}

/**
 * With the size as a hint and a window of 1 MB instead of 4, quality 5 takes a quarter less time and 2 % fewer bytes
 * for 30,000 stations. Quality 4 would take half the time, with 11 % more bytes in each answer.
 */
const brotliParams = (json: readonly Buffer[]): Record<number, number> => ({
  [constants.BROTLI_PARAM_QUALITY]: 5,
  [constants.BROTLI_PARAM_LGWIN]: 20,
  [constants.BROTLI_PARAM_SIZE_HINT]: json.reduce((sum, { length }) => sum + length, 0),
});

/** Compresses off the main thread. */
async function through(parts: readonly Buffer[], coder: Transform): Promise<Buffer> {
  const out: Buffer[] = [];
  await pipeline(Readable.from(parts), coder, async (coded: AsyncIterable<Buffer>) => {
    for await (const chunk of coded) out.push(chunk);
  });
  return Buffer.concat(out);
}
