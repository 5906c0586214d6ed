import {
  compileArea,
  type Area,
  type Region,
  type BlockList,
} from "#snapshots/model/block-list.ts";
import type { Matcher } from "#snapshots/model/filters.ts";
import { chanceIn } from "#snapshots/model/fragment.ts";
import {
  addStation,
  addSum,
  type Block,
  emptySum,
  field,
  jsonOf,
  read,
  startOf,
  sizeAt,
  type Stations,
  type Sum,
} from "#snapshots/model/block.ts";
import { borrow } from "#snapshots/model/long-buffers.ts";
import { inTurns } from "#src/infrastructure/turns.ts";

/** Stations of one block that belong to a result; `chosen` null means all of them. */
export interface Hit {
  block: Block;
  chosen: Uint8Array | null;
}

/** A result before it is cut, ordered or written. */
export interface Selection {
  count: number;
  sum: Sum;
  hits: Hit[];
}

/** Finds the stations of an area that pass. Without a filter a block inside the area is taken as a whole. */
export function select(list: BlockList, area: Area, matcher: Matcher | null): Selection {
  const region = compileArea(area);
  const found: Selection = { count: 0, sum: emptySum(), hits: [] };
  const take = (block: Block, chosen: Uint8Array): void => {
    const before = found.count;
    for (let slot = 0; slot < chosen.length; slot++) {
      if (chosen[slot] !== 1) continue;
      found.count++;
      addStation(found.sum, block, slot);
    }
    if (found.count > before) found.hits.push({ block, chosen });
  };
  list.walk(region, ({ block, sum }, covered) => {
    const within = covered ? null : inRegion(region, block);
    if (matcher !== null) take(block, matcher(block, within));
    else if (within !== null) take(block, within);
    else {
      found.count += block.stations.length;
      addSum(found.sum, sum);
      found.hits.push({ block, chosen: null });
    }
  });
  return found;
}

/** Marks the stations of a block that lie in the region by 1 in their slot. */
export function inRegion(region: Region, block: Block): Uint8Array {
  const chosen = new Uint8Array(block.stations.length);
  for (let slot = 0; slot < chosen.length; slot++) {
    const lat = block.coordinates[slot * 2] as number;
    const lon = block.coordinates[slot * 2 + 1] as number;
    if (region.holds(lat, lon)) chosen[slot] = 1;
  }
  return chosen;
}

/** The same stations block by block, so that neighbours become one piece again. */
export function byBlock({ blocks, slots }: Stations): Hit[] {
  const hits = new Map<Block, Uint8Array>();
  for (let i = 0; i < slots.length; i++) {
    const block = blocks[i] as Block;
    let chosen = hits.get(block);
    if (chosen === undefined) hits.set(block, (chosen = new Uint8Array(block.stations.length)));
    chosen[slots[i] as number] = 1;
  }
  return [...hits].map(([block, chosen]) => ({ block, chosen }));
}

/** A piece of a list's JSON. */
export interface Piece {
  bytes: Buffer;
  /** The block whose whole JSON this is; null for a run of stations. */
  block: Block | null;
}

/**
 * The JSON of the stations as pieces of the blocks' bytes; joined they read `{…},{…},…`. Runs of stations come before
 * whole blocks, so that they can be packed together.
 */
export function piecesOf(hits: readonly Hit[]): Piece[] {
  const runs: Piece[] = [];
  const blocks: Piece[] = [];
  for (const hit of hits) {
    const { block } = hit;
    if (isWhole(hit)) blocks.push({ bytes: jsonOf(block), block });
    else
      eachRun(hit, (start, end) =>
        runs.push({ bytes: block.body.read().subarray(start, end), block: null }),
      );
  }
  const pieces = [...runs, ...blocks];
  const last = pieces.pop();
  // Every station ends with a comma, the last one too.
  return last === undefined ? [] : [...pieces, { ...last, bytes: last.bytes.subarray(0, -1) }];
}

const isWhole = ({ chosen }: Hit): boolean => chosen === null || !chosen.includes(0);

/** Visits the beginning and the end of the JSON of each run of stations of a hit in its block. */
function eachRun({ block, chosen }: Hit, visit: (start: number, end: number) => void): void {
  if (chosen === null) return visit(0, block.size);
  for (let slot = 0; slot < chosen.length; slot++) {
    if (chosen[slot] !== 1) continue;
    const start = startOf(block, slot);
    while (chosen[slot + 1] === 1) slot++;
    visit(start, read(block, slot, field.end));
  }
}

/** The stations of a result, block by block. */
export function stationsOf(hits: readonly Hit[]): Stations {
  const stations: Stations = { blocks: [], slots: [] };
  for (const { block, chosen } of hits)
    for (let slot = 0; slot < block.stations.length; slot++)
      if (chosen === null || chosen[slot] === 1) {
        stations.blocks.push(block);
        stations.slots.push(slot);
      }
  return stations;
}

/** The `from`-th station and those behind it up to the `to`-th. */
export const slice = ({ blocks, slots }: Stations, from: number, to: number): Stations => ({
  blocks: blocks.slice(from, to),
  slots: slots.slice(from, to),
});

/** Bytes of the stations' JSON, with a comma after each. */
export function sizeOf({ blocks, slots, size: known }: Stations): number {
  if (known !== undefined) return known;
  let size = 0;
  for (let i = 0; i < slots.length; i++) {
    const block = blocks[i] as Block;
    const slot = slots[i] as number;
    size += sizeAt(block, slot);
  }
  return size;
}

/** The JSON of stations in this order, in one buffer of `take`, a comma after each. */
export function copyInOrder(
  stations: Stations,
  take: (size: number) => Buffer = Buffer.allocUnsafeSlow,
): Buffer {
  const { size, places, copyBlock } = layOut(stations);
  const copy = take(size);
  for (const block of places) copyBlock(copy, block, true);
  return copy;
}

/** The same in short turns, in a buffer that may be given back, past what is kept plain. */
export async function copyInTurns(stations: Stations): Promise<Buffer> {
  const { size, places, copyBlock } = layOut(stations);
  const copy = borrow(size);
  const steps = function* () {
    for (const block of places) yield copyBlock(copy, block, false);
  };
  await inTurns(steps());
  return copy;
}

/** Where each station's bytes come to lie, by block: each may have to be inflated, and those of a long page take 160 MB. */
function layOut({ blocks, slots }: Stations) {
  const places = new Map<Block, number[]>();
  const starts = new Uint32Array(slots.length);
  let size = 0;
  for (let i = 0; i < slots.length; i++) {
    const block = blocks[i] as Block;
    const slot = slots[i] as number;
    const some = places.get(block);
    if (some === undefined) places.set(block, [i]);
    else some.push(i);
    starts[i] = size;
    size += sizeAt(block, slot);
  }
  /** Blocks are read one by one (decisions 21.44). */
  const copyBlock = (copy: Buffer, [block, some]: [Block, number[]], keep: boolean): void => {
    const bytes = block.body.read(keep);
    for (const i of some) {
      const slot = slots[i] as number;
      bytes.copy(copy, starts[i], startOf(block, slot), read(block, slot, field.end));
    }
  };
  return { size, places, copyBlock };
}

/** The JSON of stations in this order, in a buffer that may be given back (see long-buffers.ts). */
export const piecesInOrder = (stations: Stations): Piece[] =>
  stations.slots.length === 0
    ? []
    : [{ bytes: copyInOrder(stations, borrow).subarray(0, -1), block: null }];

/** Stations that can be copied, and blocks that can be inflated, within a turn of the event loop. */
export const copiedMost = 4000;
const inflatedMost = 128;

/** True when a list from these blocks, one for each station or run, takes longer than a turn. */
export function takeLong(blocks: readonly Block[]): boolean {
  if (blocks.length > copiedMost) return true;
  let cold = 0;
  for (let i = 0; i < blocks.length && blocks.length > inflatedMost; i++) {
    const block = blocks[i] as Block;
    if (block !== blocks[i - 1] && !block.body.isPlain()) cold += 1;
  }
  return cold > inflatedMost;
}

/** The part of the stations, 0 to 1, that stands in whole blocks, which are deflated once for all answers. */
export function deflatedShare(hits: readonly Hit[]): number {
  let [whole, all] = [0, 0];
  for (const { block, chosen } of hits) {
    const count = chosen === null ? block.stations.length : countOf(chosen);
    all += count;
    if (count === block.stations.length) whole += count;
  }
  return all === 0 ? 0 : whole / all;
}

function countOf(chosen: Uint8Array): number {
  let count = 0;
  for (let slot = 0; slot < chosen.length; slot++) count += chosen[slot] as number;
  return count;
}

/** The highest chance first, unknown ones last; equal ones stay in their order. */
export function byChance({ blocks, slots }: Stations): Stations {
  const chances = slots.map((slot, i) => chanceIn(read(blocks[i] as Block, slot, field.flags)));
  const order = [...slots.keys()].sort((a, b) => chances[b]! - chances[a]!);
  return { blocks: order.map((i) => blocks[i]!), slots: order.map((i) => slots[i]!) };
}
