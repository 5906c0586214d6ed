import quickselect from "quickselect";
import {
  type Block,
  canPatch,
  joinBlock,
  type Member,
  memberAt,
  patchBlock,
  type Rendered,
} from "#snapshots/model/block.ts";
import type { BlockCache } from "#snapshots/model/block-cache.ts";
import { type BlockList, type Leaf, measured, growth } from "#snapshots/model/block-list.ts";
import type { StationTable, IdOrder } from "#snapshots/model/station-table.ts";
import { slices } from "#src/infrastructure/lists.ts";

/** Blocks smaller than this are joined with their neighbour when both fit into one. */
const blockMin = 32;

interface Edit {
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
  const { list, table, cache, grouping } = store;
  /** Leaves that stations join or leave. */
  const moved = new Set<Leaf>();
  const arrivals = new Map<Leaf, Rendered[]>();
  /** Stations that stay in their leaf, by slot. */
  const changed = new Map<Leaf, Map<number, Rendered>>();
  /** Stations that come while the list is empty. */
  const first: Rendered[] = [];
  for (const [station, rendered] of put) {
    const home = table.leaf[station] ?? null;
    if (home !== null && grouping.stays(home, rendered)) {
      const slot = table.slot[station] as number;
      const here = changed.get(home);
      if (here === undefined) changed.set(home, new Map([[slot, rendered]]));
      else here.set(slot, rendered);
      continue;
    }
    if (home !== null) moved.add(home);
    const leaf = grouping.leafFor(rendered);
    if (leaf === undefined) {
      first.push(rendered);
      continue;
    }
    moved.add(leaf);
    const here = arrivals.get(leaf);
    if (here === undefined) arrivals.set(leaf, [rendered]);
    else here.push(rendered);
  }
  for (const station of remove) {
    const leaf = table.leaf[station] ?? null;
    if (leaf !== null) moved.add(leaf);
  }

  const touched = new Set([...moved, ...changed.keys()]);
  const replacement = new Map<Leaf, Leaf[]>();
  for (const leaf of touched) {
    const { block } = leaf;
    const here = changed.get(leaf) ?? nothing;
    block.body.release();
    if (!moved.has(leaf) && canPatch(block, here)) {
      Object.assign(leaf, measured(patchBlock(block, here, cache)));
      continue;
    }
    const members = [...remaining(block, here, put, remove), ...(arrivals.get(leaf) ?? [])];
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

const nothing: ReadonlyMap<number, Rendered> = new Map();

/** The stations that remain in a block, with the changed ones in place of the old ones. */
function remaining(
  block: Block,
  changed: ReadonlyMap<number, Rendered>,
  put: ReadonlyMap<number, Rendered>,
  remove: ReadonlySet<number>,
): Member[] {
  const members: Member[] = [];
  block.stations.forEach((station, slot) => {
    const rendered = changed.get(slot);
    if (rendered !== undefined) members.push(rendered);
    else if (!put.has(station) && !remove.has(station)) members.push(memberAt(block, slot));
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

/** Most stations of one block. Halving anything larger leaves blocks of 64 to 128. */
const blockMax = 128;

/** Which stations share a block. */
interface Grouping {
  /** True when the station, which is in this leaf, belongs there as it is now. */
  stays(leaf: Leaf, station: Rendered): boolean;
  /** The leaf for a station that is in none; undefined when the list is empty. */
  leafFor(station: Rendered): Leaf | undefined;
  /** Splits stations into groups of at most `blockMax`, the next ones next to each other. Reorders `members`. */
  split(members: Member[]): Member[][];
}

/** Neighbours on the map, for searches. */
export const byPlace = (list: BlockList): Grouping => ({
  stays: ({ box }, { lat, lon }) => growth(box, lat, lon) === 0,
  leafFor: ({ lat, lon }) => list.nearest(lat, lon),
  split: packByLocation,
});

/** Neighbours in the order of ids, for dumps: a page of a large country lies in few blocks (decisions 7.21). */
export const byId = (table: StationTable, order: IdOrder): Grouping => ({
  stays: () => true,
  leafFor({ station }) {
    const before = order.stations()[Math.max(order.after(table.ids.id(station)) - 1, 0)];
    return before === undefined ? undefined : (table.leaf[before] ?? undefined);
  },
  split(members) {
    members.sort((a, b) => table.ids.compare(numberOf(a), numberOf(b)));
    const groups = Math.ceil(members.length / blockMax);
    return groups === 0 ? [] : [...slices(members, Math.ceil(members.length / groups))];
  },
});

const numberOf = (member: Member): number =>
  "json" in member ? member.station : (member.block.stations[member.slot] as number);

/** Halves along the wider side each time, so that a group is compact. */
function packByLocation(members: Member[]): Member[][] {
  const groups: Member[][] = [];
  const split = (from: number, to: number): void => {
    if (to - from <= blockMax) {
      if (to > from) groups.push(members.slice(from, to));
      return;
    }
    const middle = (from + to) >> 1;
    const axis = widerAxis(members, from, to);
    quickselect(members, middle, from, to - 1, (a, b) => along(a, axis) - along(b, axis));
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
