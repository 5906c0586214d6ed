import { type Block, joinBlock, type Member, type Rendered } from "#snapshots/model/block.ts";
import type { BlockCache } from "#snapshots/model/block-cache.ts";
import { type BlockList, growth, type Leaf, measured } from "#snapshots/model/block-list.ts";
import type { StationTable } from "#snapshots/model/station-table.ts";

/** Most stations of one block. Halving anything larger leaves blocks of 64 to 128. */
const blockMax = 128;
/** Blocks smaller than this are joined with their neighbour when both fit into one. */
const blockMin = 32;

export interface Edit {
  /** Stations to replace, move or insert, by number, each with its new bytes. */
  put: ReadonlyMap<number, Rendered>;
  /** Stations to take out. */
  remove: ReadonlySet<number>;
}

/** The parts of the model that hold blocks. */
interface BlockStore {
  list: BlockList;
  table: StationTable;
  cache: BlockCache;
}

/**
 * Brings the blocks up to date. Each touched block is replaced once. Blocks that overflow are split.
 */
export function writeBlocks(store: BlockStore, { put, remove }: Edit): void {
  const { list, table } = store;
  const touched = new Set<Leaf>();
  const arrivals = new Map<Leaf, Rendered[]>();
  const stays = new Map<number, Rendered>();
  /** Stations that come while the list is empty. */
  const first: Rendered[] = [];
  for (const [station, rendered] of put) {
    const { lat, lon } = rendered;
    const home = table.leaf[station] ?? null;
    if (home !== null) touched.add(home);
    if (home !== null && growth(home.box, lat, lon) === 0) {
      stays.set(station, rendered);
      continue;
    }
    const leaf = list.nearest(lat, lon);
    if (leaf === undefined) {
      first.push(rendered);
      continue;
    }
    touched.add(leaf);
    const here = arrivals.get(leaf);
    if (here === undefined) arrivals.set(leaf, [rendered]);
    else here.push(rendered);
  }
  for (const station of remove) {
    const leaf = table.leaf[station] ?? null;
    if (leaf !== null) touched.add(leaf);
  }

  const replacement = new Map<Leaf, Leaf[]>();
  for (const leaf of touched) {
    const members = [...remaining(leaf.block, stays, put, remove), ...(arrivals.get(leaf) ?? [])];
    leaf.block.body.release();
    if (members.length === 0 || members.length > blockMax)
      replacement.set(leaf, leavesOf(store, members));
    else {
      settle(store, leaf, members);
      if (members.length < blockMin) replacement.set(leaf, [leaf]);
    }
  }
  for (const station of remove) table.leaf[station] = null;
  if (replacement.size === 0 && first.length === 0) return touched.forEach(list.refresh);
  const leaves = list.leaves().flatMap((leaf) => replacement.get(leaf) ?? [leaf]);
  list.set(joinSmall(store, [...leaves, ...leavesOf(store, first)]));
}

/** The stations that remain in a block, with the changed ones in place of the old ones. */
function remaining(
  block: Block,
  stays: ReadonlyMap<number, Rendered>,
  put: ReadonlyMap<number, Rendered>,
  remove: ReadonlySet<number>,
): Member[] {
  const members: Member[] = [];
  block.stations.forEach((station, slot) => {
    const rendered = stays.get(station);
    if (rendered !== undefined) members.push(rendered);
    else if (!put.has(station) && !remove.has(station)) members.push({ block, slot });
  });
  return members;
}

/** Puts a new block into a leaf and notes the places of its stations. */
function settle({ table, cache }: BlockStore, leaf: Leaf, members: readonly Member[]): Leaf {
  // A block that was read lately is likely to be read again.
  const warm = (leaf as Partial<Leaf>).block?.body.isPlain() ?? false;
  const block = joinBlock(members, cache, warm);
  Object.assign(leaf, measured(block));
  block.stations.forEach((station, slot) => {
    table.leaf[station] = leaf;
    table.slot[station] = slot;
  });
  return leaf;
}

const leavesOf = (store: BlockStore, members: Member[]): Leaf[] =>
  packByLocation(members).map((group) => settle(store, {} as Leaf, group));

/** Joins a block that has become small with the one before it. */
function joinSmall(store: BlockStore, leaves: readonly Leaf[]): Leaf[] {
  const joined: Leaf[] = [];
  for (const leaf of leaves) {
    const before = joined.at(-1);
    const [a, b] = [before?.block.stations.length ?? blockMax, leaf.block.stations.length];
    if (before === undefined || Math.min(a, b) >= blockMin || a + b > blockMax) {
      joined.push(leaf);
      continue;
    }
    const blocks = [before.block, leaf.block];
    const members = blocks.flatMap((block) =>
      Array.from(block.stations, (_, slot) => ({ block, slot })),
    );
    for (const block of blocks) block.body.release();
    settle(store, before, members);
  }
  return joined;
}

/**
 * Splits stations into groups of at most `blockMax`, halving along the wider side each time, so that a
 * group is compact and neighbouring groups stand next to each other. Reorders `members`.
 */
function packByLocation(members: Member[]): Member[][] {
  const groups: Member[][] = [];
  const split = (from: number, to: number): void => {
    if (to - from <= blockMax) {
      if (to > from) groups.push(members.slice(from, to));
      return;
    }
    const middle = (from + to) >> 1;
    partition(members, from, to - 1, middle, widerAxis(members, from, to));
    split(from, middle);
    split(middle, to);
  };
  split(0, members.length);
  return groups;
}

/** The latitude (axis 0) or longitude (axis 1) of a station. */
const along = (member: Member, axis: number): number => {
  if ("json" in member) return axis === 0 ? member.lat : member.lon;
  return member.block.coordinates[member.slot * 2 + axis] as number;
};

function widerAxis(members: readonly Member[], from: number, to: number): 0 | 1 {
  const low = [Infinity, Infinity] as [number, number];
  const high = [-Infinity, -Infinity] as [number, number];
  for (let i = from; i < to; i++)
    for (const axis of [0, 1] as const) {
      const value = along(members[i] as Member, axis);
      if (value < low[axis]) low[axis] = value;
      if (value > high[axis]) high[axis] = value;
    }
  // A degree of longitude is shorter away from the equator.
  const scale = Math.cos((((low[0] + high[0]) / 2) * Math.PI) / 180);
  return (high[1] - low[1]) * scale > high[0] - low[0] ? 1 : 0;
}

/** Quickselect: puts the k-th smallest along `axis` at `k`, smaller ones before it, larger ones after. */
function partition(members: Member[], left: number, right: number, k: number, axis: number): void {
  while (right > left) {
    const pivot = along(members[(left + right) >> 1] as Member, axis);
    let i = left;
    let j = right;
    while (i <= j) {
      while (along(members[i] as Member, axis) < pivot) i++;
      while (along(members[j] as Member, axis) > pivot) j--;
      if (i <= j) {
        const swapped = members[i] as Member;
        members[i++] = members[j] as Member;
        members[j--] = swapped;
      }
    }
    if (k <= j) right = j;
    else if (k >= i) left = i;
    else return;
  }
}
