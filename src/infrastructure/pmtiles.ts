import { closeSync, openSync, readSync } from "node:fs";
import { gunzipSync, gzipSync } from "node:zlib";
import { Compression, TileType, zxyToTileId } from "pmtiles";

/** A vector tile, not yet compressed. */
export interface Tile {
  z: number;
  x: number;
  y: number;
  bytes: Uint8Array;
}

/** A line of an archive's directory. */
interface Entry {
  id: number;
  /** Number of equal tiles from `id` on, along the archive's curve. */
  run: number;
  offset: number;
  length: number;
}

const headerBytes = 127;
// Header and root directory must fit into the first request of readers.
const firstBytes = 16_384;
const leafEntries = 2048;
const maxLat = 85.05112878;

/**
 * A PMTiles archive (specification 3) of these tiles: header, root directory, metadata, leaf directories, tiles in the
 * order of their ids. Equal tiles are stored once.
 *
 * @param metadata TileJSON fields such as `vector_layers`
 */
export function writePmtiles(tiles: readonly Tile[], metadata: object): Buffer {
  const { entries, data } = pack(tiles);
  const { root, leaves } = directories(entries);
  const parts = [root, gzipSync(JSON.stringify(metadata)), leaves, Buffer.concat(data)];
  const zooms = tiles.map(({ z }) => z);
  const counts = [tiles.length, entries.length, data.length];
  const lengths = parts.map(({ length }) => length);
  const header = writeHeader(lengths, counts, Math.min(...zooms), Math.max(...zooms));
  return Buffer.concat([header, ...parts]);
}

function pack(tiles: readonly Tile[]): { entries: Entry[]; data: Buffer[] } {
  const ordered = tiles
    .map(({ z, x, y, bytes }) => ({ id: zxyToTileId(z, x, y), bytes }))
    .sort((a, b) => a.id - b.id);
  const known = new Map<string, { offset: number; length: number }>();
  const entries: Entry[] = [];
  const data: Buffer[] = [];
  let end = 0;
  for (const { id, bytes } of ordered) {
    const content = Buffer.from(bytes).toString("latin1");
    let place = known.get(content);
    if (place === undefined) {
      const zipped = gzipSync(bytes, { level: 9 });
      place = { offset: end, length: zipped.length };
      known.set(content, place);
      data.push(zipped);
      end += zipped.length;
    }
    const last = entries.at(-1);
    if (last !== undefined && last.id + last.run === id && last.offset === place.offset)
      last.run += 1;
    else entries.push({ id, run: 1, ...place });
  }
  return { entries, data };
}

/** One directory of everything if it is small enough, else a root that names leaves. */
function directories(entries: readonly Entry[]): { root: Buffer; leaves: Buffer } {
  const whole = directory(entries);
  if (whole.length <= firstBytes - headerBytes) return { root: whole, leaves: Buffer.alloc(0) };
  const leaves: Buffer[] = [];
  const root: Entry[] = [];
  let offset = 0;
  for (let from = 0; from < entries.length; from += leafEntries) {
    const part = entries.slice(from, from + leafEntries);
    const leaf = directory(part);
    root.push({ id: part[0]!.id, run: 0, offset, length: leaf.length });
    leaves.push(leaf);
    offset += leaf.length;
  }
  return { root: directory(root), leaves: Buffer.concat(leaves) };
}

/** Columns of variable-length integers, gzipped: ids as differences, runs, lengths, offsets. */
function directory(entries: readonly Entry[]): Buffer {
  const bytes: number[] = [];
  varint(bytes, entries.length);
  entries.forEach(({ id }, at) => varint(bytes, id - (entries[at - 1]?.id ?? 0)));
  for (const { run } of entries) varint(bytes, run);
  for (const { length } of entries) varint(bytes, length);
  entries.forEach(({ offset }, at) => {
    const before = entries[at - 1];
    // 0 means directly after the previous one.
    varint(
      bytes,
      before !== undefined && before.offset + before.length === offset ? 0 : offset + 1,
    );
  });
  return gzipSync(Buffer.from(bytes), { level: 9 });
}

function varint(bytes: number[], value: number): void {
  let rest = value;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
}

/**
 * @param lengths of the parts after the header: root directory, metadata, leaf directories, tiles
 * @param counts of tiles, of entries, of different tiles
 */
function writeHeader(
  lengths: readonly number[],
  counts: readonly number[],
  minZoom: number,
  maxZoom: number,
): Buffer {
  const header = Buffer.alloc(headerBytes);
  header.write("PMTiles\u0003", 0, "latin1");
  let offset = headerBytes;
  lengths.forEach((length, at) => {
    header.writeBigUInt64LE(BigInt(offset), 8 + at * 16);
    header.writeBigUInt64LE(BigInt(length), 16 + at * 16);
    offset += length;
  });
  counts.forEach((count, at) => header.writeBigUInt64LE(BigInt(count), 72 + at * 8));
  header.set([1, Compression.Gzip, Compression.Gzip, TileType.Mvt, minZoom, maxZoom], 96);
  const corners = [-180, -maxLat, 180, maxLat];
  corners.forEach((degrees, at) => header.writeInt32LE(Math.round(degrees * 1e7), 102 + at * 4));
  header.writeUInt8(minZoom, 118);
  return header;
}

const longestMetadata = 1024 * 1024;

/** The metadata of an archive. Throws for another kind of file, or another compression than gzip. */
export function readMetadata(path: string): unknown {
  const file = openSync(path, "r");
  try {
    const header = Buffer.alloc(headerBytes);
    readSync(file, header, 0, headerBytes, 0);
    const [at, length] = [header.readBigUInt64LE(24), header.readBigUInt64LE(32)];
    if (header.toString("latin1", 0, 7) !== "PMTiles" || length > longestMetadata)
      throw new Error(`${path} is not a PMTiles archive`);
    const packed = Buffer.alloc(Number(length));
    readSync(file, packed, 0, packed.length, Number(at));
    return JSON.parse(gunzipSync(packed, { maxOutputLength: longestMetadata }).toString("utf8"));
  } finally {
    closeSync(file);
  }
}
