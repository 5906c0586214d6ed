import { servedStatuses } from "#src/domain/vocabulary.ts";
import type { BlockBytes, BlockCache } from "#snapshots/model/block-cache.ts";

/**
 * Up to 128 stations of one neighbourhood, immutable: a change makes a new block, and an answer in flight keeps the old
 * one. Only when its bytes are written is left open. Its body begins with the JSON of its stations, each followed by a
 * comma, so that any run of stations, and any sequence of blocks, is one piece of a JSON array.
 */
export interface Block extends Columns {
  /**
   * The part that no search reads and that may be held deflated: the JSON of all stations, then the states of those
   * that the passing of time will still change (see fragment.ts).
   */
  body: BlockBytes;
  /** Bytes of the JSON. */
  size: number;
  /** What the body will be written from at its first reading; null once it is written. */
  patch: Patch | null;
}

/** Stations by slot, newly rendered, and the block that holds the bytes of all others at the same slots. */
interface Patch {
  base: Block;
  changed: ReadonlyMap<number, Rendered>;
}

interface Columns {
  /** Numbers of the stations. */
  stations: Uint32Array;
  /** lat, lon of each station. */
  coordinates: Float64Array;
  /** One record of `recordSize` numbers per station; see `field`. */
  records: Uint32Array;
  /** Searchable text of the stations, each ended by a line feed. */
  text: Buffer;
}

export const field = {
  /** End of the station's JSON in the body, its comma included. */
  end: 0,
  /** The start of its `fuel` value, counted from the start of its JSON. */
  fuel: 1,
  /** Three lanes of the digest of its JSON. */
  hash: 2,
  /** status | grades << 3 | queue << 8 | priced << 11 | grades sold << 12 | chance / 5 + 1 << 17, 0 while unknown. */
  flags: 5,
  /** Served `updated`, seconds since the epoch; 0 when never set. */
  updatedS: 6,
  /** Number of its brand in the model's brand table. */
  brand: 7,
  /** End of its text in `text`. */
  textEnd: 8,
  /** End of its state in `states`. */
  stateEnd: 9,
  /** Six lanes of the letter mask of its text (see fragment.ts). */
  letterMask: 10,
  letterMaskEnd: 16,
  /** Number of its opening hours (see schedules.ts). */
  hours: 16,
} as const;
export const recordSize = 17;

/** One station of a block. */
export interface Source {
  block: Block;
  slot: number;
}

/**
 * Stations in an order, in columns: the i-th is at `slots[i]` of `blocks[i]`. Objects would leave so much garbage, for
 * lists of 4000, that collecting it took longer than finding them.
 */
export interface Stations {
  blocks: Block[];
  slots: number[];
  /** What `sizeOf` gives, where it is known. */
  size?: number;
}

/**
 * A station newly rendered, not yet in a block. Its parts are strings: short-lived buffers outside the heap would be
 * freed much later.
 */
export interface Rendered {
  station: number;
  lat: number;
  lon: number;
  /** Its JSON and a comma. */
  json: string;
  text: string;
  state: string;
  /** Its record without the ends of the parts. */
  record: readonly number[];
}

/** A station of a new block: copied from an old block, or newly rendered. */
export type Member = Source | Rendered;

const isRendered = (member: Member): member is Rendered => "json" in member;

/** The field `which` (see `field`) of the record of the station at `slot`. */
export const read = (block: Columns, slot: number, which: number): number =>
  block.records[slot * recordSize + which] as number;

/** Start of the part that ends at the field `which` of the station at `slot`. */
export const startIn = (block: Columns, slot: number, which: number): number =>
  slot === 0 ? 0 : read(block, slot - 1, which);

/** Start of the station's JSON in the body. */
export const startOf = (block: Block, slot: number): number => startIn(block, slot, field.end);

/** Bytes of the station's JSON with its comma. */
export const sizeAt = (block: Block, slot: number): number =>
  read(block, slot, field.end) - startOf(block, slot);

/** Where the bytes of the station at `slot` are. */
export const memberAt = (block: Block, slot: number): Member =>
  block.patch === null
    ? { block, slot }
    : (block.patch.changed.get(slot) ?? { block: block.patch.base, slot });

/** The station's JSON without its comma, as a view on a block's bytes. */
export function fragmentOf(of: Block, slot: number): Buffer {
  const member = memberAt(of, slot);
  if (isRendered(member)) return Buffer.from(member.json).subarray(0, -1);
  const { block } = member;
  return block.body.read().subarray(startOf(block, slot), read(block, slot, field.end) - 1);
}

/** The station's searchable text. */
export const textOf = (block: Block, slot: number): string =>
  block.text.toString(
    "utf8",
    startIn(block, slot, field.textEnd),
    read(block, slot, field.textEnd),
  );

const noData = servedStatuses.indexOf("nodata");

/** True when the station serves a status. */
export const isKnown = (block: Columns, slot: number): boolean =>
  (read(block, slot, field.flags) & 7) !== noData;

/** The state from which the passing of time will change the station (see fragment.ts); "" when nothing will change. */
export function stateOf(of: Block, slot: number): string {
  const member = memberAt(of, slot);
  if (isRendered(member)) return member.state;
  const { block } = member;
  const [from, to] = [startIn(block, slot, field.stateEnd), read(block, slot, field.stateEnd)];
  return block.body.read().toString("utf8", block.size + from, block.size + to);
}

/** A new block of these stations in this order, with their bytes copied; `warm` when it is likely to be read. */
export function joinBlock(members: readonly Member[], cache: BlockCache, warm: boolean): Block {
  const [size, textSize, stateSize] = sizesOf(members);
  const columns = columnsFor(members.length, textSize);
  const body = cache.hold(size + stateSize, warm, (bytes) =>
    writeMembers(members, columns, bytes, size),
  );
  body.write();
  // No getters: they would give every block its own hidden class and slow down every reader.
  return { ...columns, body, size, patch: null };
}

/** So many changed stations wait beside the bytes of the old ones (decisions 7.22). */
const patchMax = 8;

/** True when `patchBlock` can put these stations, by slot, into the block. */
export const canPatch = (block: Block, changed: ReadonlyMap<number, Rendered>): boolean =>
  block.body.isPlain() &&
  (block.patch?.changed.size ?? 0) + changed.size <= patchMax &&
  [...changed].every(
    ([slot, { lat, lon, text }]) =>
      block.coordinates[slot * 2] === lat &&
      block.coordinates[slot * 2 + 1] === lon &&
      textOf(block, slot) === text,
  );

/**
 * The block with these stations in place of those at their slots. Only the records are copied: the body, eight times as
 * large, is written when it is read. V8 counts it outside its heap, and collected the whole heap every few hundred
 * changes.
 */
export function patchBlock(
  old: Block,
  changed: ReadonlyMap<number, Rendered>,
  cache: BlockCache,
): Block {
  const { base, changed: before } = old.patch ?? { base: old, changed: [] };
  const patch = { base, changed: new Map([...before, ...changed]) };
  const records = old.records.slice();
  for (const [slot, { record, json, state }] of changed) {
    const at = slot * recordSize;
    const resize = (which: number, part: string): void => {
      const by = Buffer.byteLength(part) - read(old, slot, which) + startIn(old, slot, which);
      for (let i = at + which; i < records.length; i += recordSize) records[i]! += by;
    };
    resize(field.end, json);
    resize(field.stateEnd, state);
    for (let i = 0; i < recordSize; i++) if (!ends.has(i)) records[at + i] = record[i] as number;
  }
  const size = records.at(field.end - recordSize)!;
  const block = { ...old, records, size, patch: patch as Block["patch"] };
  const length = size + records.at(field.stateEnd - recordSize)!;
  return Object.assign(block, { body: cache.hold(length, true, writerOf(block)) });
}

/** A closure within `patchBlock` would hold the old block, and that one the block before it. */
const writerOf = (block: Block) => (bytes: Buffer) => {
  const columns = columnsFor(block.stations.length, block.text.length);
  const members = Array.from(block.stations, (_, slot) => memberAt(block, slot));
  writeMembers(members, columns, bytes, block.size);
  Object.assign(block, columns, { patch: null });
};

/** The fields that count on from station to station. */
const ends: ReadonlySet<number> = new Set([field.end, field.textEnd, field.stateEnd]);

/** The JSON of all stations of the block, each followed by a comma. */
export const jsonOf = (block: Block): Buffer => block.body.read().subarray(0, block.size);

/** Writes a new block: its columns, and its body, of which the first `size` bytes are the JSON. */
function writeMembers(
  members: readonly Member[],
  columns: Columns,
  body: Buffer,
  size: number,
): void {
  const into = { ...columns, bytes: body.subarray(0, size), states: body.subarray(size) };
  for (let to = 0; to < members.length;) {
    const member = members[to] as Member;
    if (isRendered(member)) {
      write(member, into, to++);
      continue;
    }
    const { block, slot } = member;
    let length = 1;
    for (; to + length < members.length; length++) {
      const next = members[to + length] as Member;
      if (isRendered(next) || next.block !== block || next.slot !== slot + length) break;
    }
    copyRun(block, slot, into, to, length);
    to += length;
  }
}

/** All columns in one allocation: a separate array costs several hundred bytes besides its content. */
function columnsFor(count: number, textSize: number): Columns {
  const numbers = count * (2 * 8 + recordSize * 4 + 4);
  const store = new ArrayBuffer(numbers + textSize);
  return {
    coordinates: new Float64Array(store, 0, count * 2),
    records: new Uint32Array(store, count * 16, count * recordSize),
    stations: new Uint32Array(store, numbers - count * 4, count),
    text: Buffer.from(store, numbers, textSize),
  };
}

/** A block that is being written. */
interface Draft extends Columns {
  bytes: Buffer;
  states: Buffer;
}

function sizesOf(members: readonly Member[]): [json: number, text: number, states: number] {
  let [json, text, states] = [0, 0, 0];
  for (const member of members)
    if (isRendered(member)) {
      json += Buffer.byteLength(member.json);
      text += Buffer.byteLength(member.text);
      states += Buffer.byteLength(member.state);
    } else {
      const { block, slot } = member;
      json += sizeAt(block, slot);
      text += read(block, slot, field.textEnd) - startIn(block, slot, field.textEnd);
      states += read(block, slot, field.stateEnd) - startIn(block, slot, field.stateEnd);
    }
  return [json, text, states];
}

function write(member: Rendered, into: Draft, to: number): void {
  into.stations[to] = member.station;
  into.coordinates[to * 2] = member.lat;
  into.coordinates[to * 2 + 1] = member.lon;
  const at = to * recordSize;
  for (let i = 0; i < recordSize; i++) into.records[at + i] = member.record[i] ?? 0;
  writePart(into, to, field.end, member.json, into.bytes);
  writePart(into, to, field.textEnd, member.text, into.text);
  writePart(into, to, field.stateEnd, member.state, into.states);
}

function writePart(into: Columns, to: number, which: number, part: string, target: Buffer): void {
  const start = startIn(into, to, which);
  into.records[to * recordSize + which] = start + target.write(part, start);
}

/** Copies `length` neighbours at once: most of a changed block stays as it was. */
function copyRun(from: Block, slot: number, into: Draft, to: number, length: number): void {
  const end = slot + length;
  into.stations.set(from.stations.subarray(slot, end), to);
  into.coordinates.set(from.coordinates.subarray(slot * 2, end * 2), to * 2);
  into.records.set(from.records.subarray(slot * recordSize, end * recordSize), to * recordSize);
  const copyPart = (which: number, source: Buffer, target: Buffer): void => {
    const start = startIn(from, slot, which);
    const at = startIn(into, to, which);
    source.copy(target, at, start, read(from, end - 1, which));
    for (let i = to; i < to + length; i++)
      into.records[i * recordSize + which] = read(into, i, which) - start + at;
  };
  const source = from.body.read();
  copyPart(field.end, source, into.bytes);
  copyPart(field.textEnd, from.text, into.text);
  copyPart(field.stateEnd, source.subarray(from.size), into.states);
}

/** Three lanes of digests of stations' JSON, each summed modulo 2^32: equal content gives equal sums, in any order. */
export type Sum = Uint32Array;

export const emptySum = (): Sum => new Uint32Array(3);

/** The sum of the digests of some stations. */
export function sumOfStations({ blocks, slots }: Stations): Sum {
  let [a, b, c] = [0, 0, 0];
  for (let i = 0; i < slots.length; i++) {
    const { records } = blocks[i] as Block;
    const at = (slots[i] as number) * recordSize + field.hash;
    // Sums are signed: V8 keeps larger numbers than 2^31 as objects.
    a = (a + (records[at] as number)) | 0;
    b = (b + (records[at + 1] as number)) | 0;
    c = (c + (records[at + 2] as number)) | 0;
  }
  return Uint32Array.of(a, b, c);
}

/** Adds the digest of one station. */
export function addStation(sum: Sum, block: Block, slot: number): void {
  const at = slot * recordSize + field.hash;
  for (let lane = 0; lane < 3; lane++)
    sum[lane] = (sum[lane] as number) + (block.records[at + lane] as number);
}

/** Adds the digests of some stations to those of others. */
export function addSum(to: Sum, some: Sum): void {
  for (let lane = 0; lane < 3; lane++) to[lane] = (to[lane] as number) + (some[lane] as number);
}

export const sumText = (sum: Sum): string => textAt(sum, 0);

/** The `sumText` of one station alone. */
export const sumTextOf = ({ block, slot }: Source): string =>
  textAt(block.records, slot * recordSize + field.hash);

const lanesBytes = Buffer.alloc(12);

/** 24 hexadecimal digits. They are written from bytes: numbers above 2^31 are slow to write in another base. */
function textAt(lanes: Uint32Array, at: number): string {
  for (let lane = 0; lane < 3; lane++)
    lanesBytes.writeUInt32BE(lanes[at + lane] as number, lane * 4);
  return lanesBytes.toString("hex");
}
