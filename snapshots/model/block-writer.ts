import { type Block, joinBlock, type Member, type Rendered } from "#snapshots/model/block.ts";
import type { BlockCache } from "#snapshots/model/block-cache.ts";
import { type BlockList, type Leaf, measured } from "#snapshots/model/block-list.ts";
import { blockMax, type Grouping } from "#snapshots/model/grouping.ts";
import type { StationTable } from "#snapshots/model/station-table.ts";

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
  grouping: Grouping;
}

/**
 * Brings the blocks up to date. Each touched block is replaced once. Blocks that overflow are split.
 */
export function writeBlocks(store: BlockStore, { put, remove }: Edit): void {
  const { list, table, grouping } = store;
  const touched = new Set<Leaf>();
  const arrivals = new Map<Leaf, Rendered[]>();
  const stays = new Map<number, Rendered>();
  /** Stations that come while the list is empty. */
  const first: Rendered[] = [];
  for (const [station, rendered] of put) {
    const home = table.leaf[station] ?? null;
    if (home !== null) touched.add(home);
    if (home !== null && grouping.stays(home, rendered)) {
      stays.set(station, rendered);
      continue;
    }
    const leaf = grouping.leafFor(rendered);
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
  store.grouping.split(members).map((group) => settle(store, {} as Leaf, group));

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
