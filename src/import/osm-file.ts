import { open, type FileHandle } from "node:fs/promises";
import { inflateSync } from "node:zlib";
import { PbfReader } from "pbf";
import { refuseGrowth } from "#src/import/file-bytes.ts";
import { advice, type ReadProgress, wrongFile } from "#src/import/read-text.ts";

/** The place of a block in an extract, so that a later pass reads only the blocks that it needs. */
export interface BlockPlace {
  at: number;
  /** Length, with the header before it. */
  bytes: number;
}

// The format's own limits.
const maxHeaderBytes = 64 * 1024;
const maxBlobBytes = 32 * 1024 * 1024;
const understood = new Set(["OsmSchema-V0.6", "DenseNodes"]);

const wrongKind = (): Error =>
  wrongFile(
    "this is not an extract of OpenStreetMap in the PBF format",
    "Download a file that ends in .osm.pbf, for example from download.geofabrik.de.",
  );

/** An extract in OpenStreetMap's PBF format, read block by block: only one block is in memory at a time. */
export interface OsmFile {
  size: number;
  /** All blocks with data and their places, in order. */
  all(progress: ReadProgress): AsyncGenerator<[BlockPlace, Uint8Array]>;
  some(places: readonly BlockPlace[], progress: ReadProgress): AsyncGenerator<Uint8Array>;
  close(): Promise<void>;
}

/** Opens the extract and checks its first block. */
export async function openOsmFile(path: string): Promise<OsmFile> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const first = await blockAt(file, 0, size);
    if (first.type !== "OSMHeader") throw wrongKind();
    checkFeatures(first.content);
    return {
      size,
      async *all(progress) {
        for (let at = first.bytes; at < size;) {
          const { type, content, bytes } = await blockAt(file, at, size);
          if (type === "OSMData") yield [{ at, bytes }, content];
          at += bytes;
          progress(at);
        }
      },
      async *some(places, progress) {
        for (const { at, bytes } of places) {
          yield (await blockAt(file, at, size)).content;
          progress(at + bytes);
        }
      },
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** The block from `at` on, decompressed; `bytes` is its length in the file, with the header before it. */
async function blockAt(file: FileHandle, at: number, size: number) {
  const start = await bytesAt(file, at, Math.min(4, size - at));
  const headerBytes = start.length === 4 ? start.readUInt32BE(0) : 0;
  if (headerBytes === 0 || headerBytes > maxHeaderBytes) throw garbled(at);
  const { type, blobBytes } = headerOf(await bytesAt(file, at + 4, headerBytes), at);
  if (blobBytes > maxBlobBytes) throw garbled(at);
  const blob = await bytesAt(file, at + 4 + headerBytes, blobBytes);
  const content = unpacked(blob, at);
  refuseGrowth(content.length, blobBytes);
  return { type, content, bytes: 4 + headerBytes + blobBytes };
}

async function bytesAt(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at);
  if (bytesRead === length && length > 0) return buffer;
  if (at <= 4) throw wrongKind();
  throw wrongFile(`the file ends in the middle of a block, at byte ${at + bytesRead}`, advice.cut);
}

const garbled = (at: number): Error =>
  at === 0 ? wrongKind() : wrongFile(`the block at byte ${at} cannot be read`, advice.cut);

/** The result of reading the block at `at`; any error of the reader is a fault of the file. */
function read<T>(at: number, work: () => T): T {
  try {
    return work();
  } catch {
    throw garbled(at);
  }
}

function headerOf(bytes: Uint8Array, at: number): { type: string; blobBytes: number } {
  const header = { type: "", blobBytes: -1 };
  read(at, () =>
    new PbfReader(bytes).readFields((tag, into, pbf) => {
      if (tag === 1) into.type = pbf.readString();
      if (tag === 3) into.blobBytes = pbf.readVarint();
    }, header),
  );
  if (header.type === "" || header.blobBytes < 0) throw garbled(at);
  return header;
}

function unpacked(bytes: Uint8Array, at: number): Uint8Array {
  const content = read(at, () => {
    const found: { raw?: Uint8Array; zlib?: Uint8Array } = {};
    new PbfReader(bytes).readFields((tag, into, pbf) => {
      if (tag === 1) into.raw = pbf.readBytes();
      if (tag === 3) into.zlib = pbf.readBytes();
    }, found);
    if (found.zlib === undefined) return found.raw;
    return inflateSync(found.zlib, { maxOutputLength: maxBlobBytes });
  });
  if (content !== undefined) return content;
  throw wrongFile(
    "its blocks are compressed in a manner other than zlib",
    "Write it again with `osmium cat IN.osm.pbf -o OUT.osm.pbf`.",
  );
}

function checkFeatures(header: Uint8Array): void {
  const required: string[] = [];
  read(0, () =>
    new PbfReader(header).readFields((tag, into, pbf) => {
      if (tag === 4) into.push(pbf.readString());
    }, required),
  );
  const strange = required.filter((one) => !understood.has(one));
  if (strange.length > 0)
    throw wrongFile(
      `it needs what is not understood here (${strange.join(", ")})`,
      "Take an ordinary extract, without history.",
    );
}
