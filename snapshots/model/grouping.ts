import quickselect from "quickselect";
import type { Member, Rendered } from "#snapshots/model/block.ts";
import { type BlockList, growth, type Leaf } from "#snapshots/model/block-list.ts";
import type { IdOrder } from "#snapshots/model/station-orders.ts";
import type { StationTable } from "#snapshots/model/station-table.ts";
import { slices } from "#src/infrastructure/lists.ts";

/** Most stations of one block. Halving anything larger leaves blocks of 64 to 128. */
export const blockMax = 128;

/** Which stations share a block. */
export interface Grouping {
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
