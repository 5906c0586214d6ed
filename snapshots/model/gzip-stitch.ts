import { type Checked, checkedOf, joinChecked } from "#snapshots/model/crc.ts";
import { deflated, deflatedPage, type Deflated } from "#snapshots/model/block-deflate.ts";
import type { Piece } from "#snapshots/model/selection.ts";

/** Pieces of a deflate stream and what they unpack to. */
export interface Packed extends Checked {
  blocks: Buffer[];
}

// RFC 1952: magic, deflate, no name, no time, no hints, unknown system.
const gzipHead = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
/** An empty last block with fixed codes (RFC 1951 3.2.6). */
const lastBlock = Buffer.from([0x03, 0x00]);
const comma = stored(Buffer.from(","));
const runLevel = 1;

/**
 * A list of stations, deflated: its whole pages as they have been made once for all, what comes from parts of pages
 * in one go. Runs stand before the pages, as `piecesOf` puts them.
 */
export async function packPieces(pieces: readonly Piece[]): Promise<Packed> {
  const runs = pieces.filter(({ page }) => page === null).map(({ bytes }) => bytes);
  const pages = pieces.flatMap(({ page }) => (page === null ? [] : [deflatedPage(page)]));
  const run = runs.length === 0 ? [] : [deflated(Buffer.concat(runs), runLevel)];
  const packed = await Promise.all([...run, ...pages]);
  const parts = packed.flatMap((one, i): Deflated[] =>
    i < run.length || i === packed.length - 1 ? [one] : [one, comma],
  );
  return joined(parts);
}

/** One gzip member (RFC 1952) of three texts in a row. Several members would be cut short by many decoders. */
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

const nothing: Packed = { blocks: [], length: 0, crc: 0 };

const joined = (parts: readonly Deflated[]): Packed =>
  parts.reduce<Packed>(
    (whole, part) => {
      whole.blocks.push(part.blocks);
      return { blocks: whole.blocks, ...joinChecked(whole, part) };
    },
    { ...nothing, blocks: [] },
  );

/** Bytes as they are in blocks of their own (RFC 1951 3.2.4). */
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
