import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { directories, type Entry, headerBytes, writeHeader } from "#src/infrastructure/pmtiles.ts";

/** A PMTiles archive too large for memory: its tiles wait on disk, by zoom. */
export interface Archive {
  /**
   * Adds a tile, not yet compressed, as `run` tiles from `id` on. Within a zoom ids come in ascending order; zooms may
   * take turns.
   */
  add(z: number, id: number, bytes: Uint8Array, run?: number): void;
  /** Writes the archive, zoom after zoom, so that its tiles lie in the order of their ids. */
  finish(path: string, metadata: object): { bytes: number; tiles: number };
  /** Lets go of the files in `folder`; they stay. */
  close(): void;
}

interface Level {
  file: number;
  end: number;
  tiles: number;
  different: number;
  entries: Entry[];
  /** Places of small tiles, of which many are alike: open land, open sea. */
  known: Map<string, Pick<Entry, "offset" | "length">>;
}

const smallBytes = 256;
const knownMost = 50_000;
const copyBytes = 4 * 1024 * 1024;

/** @param folder for the temporary files, which need as much room as the archive */
export function openArchive(folder: string): Archive {
  const levels = new Map<number, Level>();
  const levelOf = (z: number): Level => {
    const there = levels.get(z);
    if (there !== undefined) return there;
    const file = openSync(join(folder, `zoom-${z}`), "w+");
    const made = { file, end: 0, tiles: 0, different: 0, entries: [], known: new Map() };
    levels.set(z, made);
    return made;
  };
  return {
    add: (z, id, bytes, run = 1) => put(levelOf(z), id, bytes, run),
    finish: (path, metadata) => assemble(levels, path, metadata),
    close: () => {
      for (const { file } of levels.values()) closeSync(file);
    },
  };
}

function put(level: Level, id: number, bytes: Uint8Array, run: number): void {
  const last = level.entries.at(-1);
  if (last !== undefined && id < last.id + last.run)
    throw new Error(`tile ${id} comes after ${last.id}`);
  level.tiles += run;
  const place = placeOf(level, bytes);
  const joins = last !== undefined && last.id + last.run === id && last.offset === place.offset;
  if (joins) last.run += run;
  else level.entries.push({ id, run, ...place });
}

function placeOf(level: Level, bytes: Uint8Array): Pick<Entry, "offset" | "length"> {
  const content = bytes.length <= smallBytes ? Buffer.from(bytes).toString("latin1") : null;
  const there = content === null ? undefined : level.known.get(content);
  if (there !== undefined) return there;
  const zipped = gzipSync(bytes);
  const place = { offset: level.end, length: zipped.length };
  writeAll(level.file, zipped, level.end);
  level.end += zipped.length;
  level.different += 1;
  if (content !== null && level.known.size < knownMost) level.known.set(content, place);
  return place;
}

function assemble(
  levels: ReadonlyMap<number, Level>,
  path: string,
  metadata: object,
): { bytes: number; tiles: number } {
  const zooms = [...levels.keys()].sort((a, b) => a - b);
  const ordered = zooms.map((z) => levels.get(z)!);
  const entries: Entry[] = [];
  let data = 0;
  for (const level of ordered) {
    for (const entry of level.entries) entries.push({ ...entry, offset: entry.offset + data });
    data += level.end;
  }
  const sum = (of: (level: Level) => number): number =>
    ordered.reduce((all, level) => all + of(level), 0);
  const tiles = sum((level) => level.tiles);
  const { root, leaves } = directories(entries);
  const parts = [root, gzipSync(JSON.stringify(metadata)), leaves];
  const lengths = [...parts.map(({ length }) => length), data];
  const counts = [tiles, entries.length, sum((level) => level.different)];
  const header = writeHeader(lengths, counts, zooms[0] ?? 0, zooms.at(-1) ?? 0);
  const out = openSync(path, "w");
  try {
    let at = 0;
    for (const part of [header, ...parts]) at += writeAll(out, part, at);
    for (const { file, end } of ordered) at += copy(file, end, out, at);
  } finally {
    closeSync(out);
  }
  return { bytes: headerBytes + lengths.reduce((all, length) => all + length, 0), tiles };
}

function copy(from: number, length: number, to: number, at: number): number {
  const piece = Buffer.alloc(Math.min(copyBytes, length));
  for (let done = 0; done < length;) {
    const count = readSync(from, piece, 0, Math.min(piece.length, length - done), done);
    if (count === 0) throw new Error("a temporary file of tiles has become shorter");
    writeAll(to, piece.subarray(0, count), at + done);
    done += count;
  }
  return length;
}

/** A write may take only part of it. */
function writeAll(file: number, bytes: Uint8Array, at: number): number {
  for (let from = 0; from < bytes.length;)
    from += writeSync(file, bytes, from, bytes.length - from, at + from);
  return bytes.length;
}

const longestMetadata = 1024 * 1024;

/** The metadata of an archive. Throws where it is no such file, or compressed otherwise than by gzip. */
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
