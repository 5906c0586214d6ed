import { promisify } from "node:util";
import { constants, crc32, deflateRaw } from "node:zlib";
import { LRUCache } from "lru-cache";
import { type Block, jsonOf } from "#snapshots/model/block.ts";
import { type Form, type Format, forms } from "#snapshots/model/forms.ts";
import { borrowJoined, giveBack, ownCopy } from "#snapshots/model/long-buffers.ts";
import type { Piece } from "#snapshots/model/area-selection.ts";

/** A text's length and CRC-32: enough to compute the CRC of joined texts. */
export interface Checked {
  length: number;
  crc: number;
}

/** A text in a form that may stand anywhere in a deflate stream: complete deflate blocks, none of them the last. */
export interface Deflated extends Checked {
  blocks: Buffer;
}

/** Parts of a deflate stream, with length and CRC of their text. */
export interface Packed extends Checked {
  blocks: Buffer[];
}

// RFC 1952: magic, deflate, no name, no time, no hints, unknown system.
const gzipHead = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
/** An empty last block with fixed codes (RFC 1951 3.2.6). */
const lastBlock = Buffer.from([0x03, 0x00]);
/** Level for runs of stations, which differ in every answer. */
const runLevel = 1;
/** Level for station blocks, which are deflated once: a fifth fewer bytes are worth twice the time of level 1. */
const blockLevel = 6;

/**
 * A list of stations in a form, deflated. Complete station blocks are deflated once and kept; all runs of stations
 * from other blocks are deflated together. Runs stand before the complete blocks, as `piecesOf` orders them.
 */
export async function packPieces(
  pieces: readonly Piece[],
  format: Format = "json",
): Promise<Packed> {
  const form = forms[format];
  const between = stored(form.separator);
  const runs = pieces.filter(({ block }) => block === null).map(({ bytes }) => bytes);
  const whole = pieces.flatMap(({ block }) =>
    block === null ? [] : [deflatedBlock(block, format)],
  );
  const run = runs.length === 0 ? [] : [deflatedRuns(runs, form)];
  const packed = await Promise.all([...run, ...whole]);
  const parts = packed.flatMap((part, i) =>
    i < run.length || i === packed.length - 1 ? [part] : [part, between],
  );
  return joinDeflated(parts);
}

/** Deflates the runs, and gives back their buffers. */
async function deflatedRuns(runs: readonly Buffer[], { write }: Form): Promise<Deflated> {
  const plain = borrowJoined(runs);
  const written = write(plain);
  if (written !== plain) giveBack(plain);
  const packed = await deflated(written, runLevel);
  giveBack(written);
  return packed;
}

/** One gzip member (RFC 1952) of three texts in a row. Many decoders read only the first of several members. */
export function gzipMember(head: Buffer, middle: Packed, tail: Buffer): Buffer[] {
  const { length, crc } = joinChecked(joinChecked(checkedOf(head), middle), checkedOf(tail));
  const end = Buffer.alloc(8);
  end.writeUInt32LE(crc);
  end.writeUInt32LE(length % 2 ** 32, 4);
  return [
    Buffer.concat([gzipHead, stored(head).blocks]),
    ...middle.blocks,
    Buffer.concat([stored(tail).blocks, lastBlock, end]),
  ];
}

/** Deflated texts in a row. */
const joinDeflated = (parts: readonly Deflated[]): Packed => ({
  ...parts.reduce<Checked>(joinChecked, { length: 0, crc: 0 }),
  blocks: parts.map(({ blocks }) => blocks),
});

/** A text deflated as a whole, to be kept. */
export const packWhole = async (bytes: Buffer): Promise<Packed> =>
  joinDeflated([exact(await deflated(bytes, blockLevel))]);

type Deflating = Deflated | Promise<Deflated>;

/** Enough for the blocks of 30,000 stations. */
const formBytes = 3 << 20;

/** Deflated JSON is kept as long as the block, rarer forms within a budget. */
const deflatedBlocks = {
  json: new WeakMap<Block, Deflating>(),
  geojson: createFormCache(),
  ndjson: createFormCache(),
  csv: createFormCache(),
} satisfies Record<Format, unknown>;

function createFormCache() {
  return new LRUCache<Block, Deflating>({
    maxSize: formBytes,
    sizeCalculation: (kept) => ("blocks" in kept ? kept.blocks.length : 1),
  });
}

/** A station block without the comma at its end, deflated at the first request for this form. */
function deflatedBlock(block: Block, format: Format): Deflating {
  const cache = deflatedBlocks[format];
  const kept = cache.get(block);
  if (kept !== undefined) return kept;
  const plain = forms[format].write(jsonOf(block).subarray(0, -1));
  const deflating = deflated(plain, blockLevel).then((packed) => {
    const done = exact(packed);
    cache.set(block, done);
    return done;
  });
  cache.set(block, deflating);
  deflating.catch(() => cache.delete(block));
  return deflating;
}

const inBackground = promisify(deflateRaw);

const exact = (packed: Deflated): Deflated => ({ ...packed, blocks: ownCopy(packed.blocks) });

/**
 * Deflates off the main thread. The deflate blocks end at a byte and refer to nothing before them. One chunk is enough
 * for most: each further one is another way to a thread and back.
 */
async function deflated(bytes: Buffer, level: number): Promise<Deflated> {
  const chunkSize = Math.max(constants.Z_MIN_CHUNK, Math.ceil(bytes.length / 6));
  const options = { level, memLevel: 9, finishFlush: constants.Z_SYNC_FLUSH, chunkSize };
  return { ...checkedOf(bytes), blocks: await inBackground(bytes, options) };
}

/** Bytes as they are, in deflate blocks of their own (RFC 1951 3.2.4). */
function stored(bytes: Buffer): Deflated {
  const blocks: Buffer[] = [];
  for (let from = 0; from < bytes.length; from += 0xffff) {
    const part = bytes.subarray(from, from + 0xffff);
    const head = Buffer.alloc(5);
    head.writeUInt16LE(part.length, 1);
    head.writeUInt16LE(part.length ^ 0xffff, 3);
    blocks.push(head, part);
  }
  return { ...checkedOf(bytes), blocks: Buffer.concat(blocks) };
}

export function checkedOf(bytes: Buffer): Checked {
  return { length: bytes.length, crc: crc32(bytes) };
}

/** Length and CRC-32 of two joined texts, without reading them: zlib's `crc32_combine`. */
export const joinChecked = (a: Checked, b: Checked): Checked => ({
  length: a.length + b.length,
  crc: (multiply(shiftBy(b.length), a.crc) ^ b.crc) >>> 0,
});

const polynomial = 0xedb88320;

/** The product of two polynomials over GF(2) modulo the CRC's, highest power in the lowest bit. */
function multiply(a: number, b: number): number {
  let product = 0;
  let factor = b;
  for (let bit = 0x80000000; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) product ^= factor;
    factor = (factor & 1) === 0 ? factor >>> 1 : (factor >>> 1) ^ polynomial;
  }
  return product >>> 0;
}

/** x^(2^n) for each n. */
const powers = [0x40000000];
for (let n = 1; n < 32; n++) powers.push(multiply(powers[n - 1]!, powers[n - 1]!));

/** The factor by which `bytes` following bytes multiply a CRC: x^(8 · bytes). */
function shiftBy(bytes: number): number {
  let shift = 0x80000000;
  // A byte has 2^3 bits; after x^(2^31) the powers repeat.
  for (let n = 3, rest = bytes; rest > 0; n++, rest = Math.floor(rest / 2))
    if (rest % 2 === 1) shift = multiply(powers[n % 32]!, shift);
  return shift;
}
