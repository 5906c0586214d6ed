import { Readable, type Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setImmediate as nextTurn } from "node:timers/promises";
import { constants, createBrotliCompress, createGzip } from "node:zlib";
import { listHead, listTail } from "#snapshots/envelope.ts";
import type { ReadModel } from "#snapshots/model.ts";

/** What is known of a dump without reading it. Times in ms. */
export interface DumpHead {
  /** Number of the newest change in it. */
  seq: number;
  asOfMs: number;
  /** Until when time's own changes are in it. */
  builtAtMs: number;
  count: number;
  /** Sum of the stations' digests: together with `count` its content. */
  sum: string;
}

/** The whole country in the envelope of partner-api.md 2.3, as one page, compressed once for all processes. */
export interface Dump extends DumpHead {
  gzip: Buffer;
  br: Buffer;
}

/** Stations written per turn of the event loop. */
const perTurn = 2000;
const chunkSize = 1 << 20;

/** Builds a dump of what the model holds at `now`, in small steps; later changes do not get into it. */
export async function buildDump(given: {
  model: ReadModel;
  seq: number;
  asOfMs: number;
  now: number;
  lifetimeMs: number;
}): Promise<Dump> {
  const { model, seq, asOfMs, now, lifetimeMs } = given;
  const { count, sum, parts } = model.freeze(now);
  const json: Buffer[] = [listHead];
  for (const part of parts(perTurn)) {
    json.push(part);
    await nextTurn();
  }
  json.push(listTail({ count, asOfMs, lifetimeMs, truncated: false, nextCursor: "" }));
  const head: DumpHead = { seq, asOfMs, builtAtMs: now, count, sum };
  const gzip = await through(json, createGzip({ level: 6, chunkSize }));
  const params = { [constants.BROTLI_PARAM_QUALITY]: 5 };
  const br = await through(json, createBrotliCompress({ chunkSize, params }));
  return { ...head, gzip, br };
}

/** Compresses off the main thread. */
async function through(parts: readonly Buffer[], coder: Transform): Promise<Buffer> {
  const out: Buffer[] = [];
  await pipeline(Readable.from(parts), coder, async (coded: AsyncIterable<Buffer>) => {
    for await (const chunk of coded) out.push(chunk);
  });
  return Buffer.concat(out);
}
