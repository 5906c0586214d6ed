import { addStations, type Block, emptySum, type Source, sumText } from "#snapshots/model/block.ts";
import type { Area } from "#snapshots/model/area.ts";
import type { BlockTree } from "#snapshots/model/block-tree.ts";
import type { Filters, Matcher } from "#snapshots/model/filters.ts";
import { findNearest, sortByDistance } from "#snapshots/model/nearest.ts";
import {
  byBlock,
  type Piece,
  piecesInOrder,
  piecesOf,
  select,
  type Selection,
  sourcesOf,
} from "#snapshots/model/selection.ts";
import type { ChangeOrder, IdOrder } from "#snapshots/model/station-orders.ts";
import { noStation, type StationTable } from "#snapshots/model/station-table.ts";

/** A list of stations, found but not yet written. Equal `sum` and `count` mean equal content. */
export interface Answer {
  count: number;
  sum: string;
  /** The stations' JSON in pieces: joined they read `{…},{…}`. They stay valid after later changes. */
  pieces(): Piece[];
  /** The same stations one by one. */
  sources(): Iterable<Source>;
}

export interface AreaQuery {
  area: Area;
  filters?: Filters;
  /** `distance`: nearest to the area's centre first, ties by id. */
  sort?: "distance";
  /** Most stations; those nearest to the area's centre are kept. */
  limit: number;
  now: number;
}

interface PageQuery {
  filters?: Filters;
  /** Id after which the page begins; "" for the first page. */
  after: string;
  limit: number;
  now: number;
}

/** ms; the same on every process that has applied the same. */
interface Times {
  /** -Infinity when there are no stations. */
  changedAt: number;
  /** Infinity when time changes nothing. */
  nextAt: number;
}

/** The parts of the model that queries read. */
interface Parts {
  tree: BlockTree;
  table: StationTable;
  order: IdOrder;
  changes: ChangeOrder;
  matcher(filters: Filters | undefined): Matcher | null;
  drain(now: number): void;
}

export function createQueries({ tree, table, order, changes, matcher, drain }: Parts) {
  const idOf = ({ block, slot }: Source): string => table.ids.id(block.stations[slot] as number);
  const timesByBlock = new WeakMap<Block, Times>();

  const timesOf = ({ stations }: Block, chosen: Uint8Array | null): Times => {
    let { changedAt, nextAt } = never;
    for (let slot = 0; slot < stations.length; slot++) {
      if (chosen !== null && chosen[slot] !== 1) continue;
      const station = stations[slot] as number;
      changedAt = Math.max(changedAt, table.changedAt[station] as number);
      nextAt = Math.min(nextAt, table.nextAt[station] as number);
    }
    return { changedAt, nextAt };
  };

  /** Every change of a station makes a new block, so the times of a block never change. */
  const blockTimes = (block: Block): Times => {
    let times = timesByBlock.get(block);
    if (times === undefined) timesByBlock.set(block, (times = timesOf(block, null)));
    return times;
  };

  /** The stations that pass; null for all of them. */
  const selected = (filters: Filters | undefined): Selection | null => {
    const passes = matcher(filters);
    return passes === null ? null : select(tree, { kind: "all" }, passes);
  };
  const wholeOf = (found: Selection | null): { count: number; sum: string } => ({
    count: found?.count ?? tree.count(),
    sum: sumText(found?.sum ?? tree.sum()),
  });

  return {
    query({ area, filters, sort, limit, now }: AreaQuery): Answer & { truncated: boolean } {
      drain(now);
      const passes = matcher(filters);
      const found = passes === null && sort === undefined ? select(tree, area, null) : null;
      if (found !== null && found.count <= limit)
        return {
          count: found.count,
          sum: sumText(found.sum),
          truncated: false,
          pieces: () => piecesOf(found.hits),
          sources: () => sourcesOf(found.hits),
        };
      const byId = table.ids.compare;
      const { kept, truncated } = findNearest(tree, { area, matcher: passes, limit, byId });
      if (sort !== undefined) return { ...inOrder(sortByDistance(kept, byId)), truncated };
      return { ...inOrder(kept), truncated, pieces: () => piecesOf(byBlock(kept)) };
    },

    /** A page in id order, and its whole list. `next`: id of the page's last station when more follow, else "". */
    page({ filters, after, limit, now }: PageQuery) {
      drain(now);
      const found = selected(filters);
      const passes = new Map(found?.hits.map((hit) => [hit.block, hit.chosen]));
      const stations = order.stations();
      const sources: Source[] = [];
      let next = "";
      for (let i = after === "" ? 0 : order.after(after); i < stations.length; i++) {
        const source = table.sourceOf(stations[i] as number);
        if (found !== null && passes.get(source.block)?.[source.slot] !== 1) continue;
        if (sources.length === limit) {
          next = idOf(sources.at(-1) as Source);
          break;
        }
        sources.push(source);
      }
      return { ...inOrder(sources), whole: wholeOf(found), next };
    },

    /** Stations changed at or after `sinceMs`, oldest change first, and ids of those taken out of service. */
    delta(sinceMs: number, now: number): Answer & { removed: string[] } {
      drain(now);
      const sources: Source[] = [];
      const removed: string[] = [];
      for (
        let station = changes.newest();
        station !== noStation && (table.changedAt[station] as number) >= sinceMs;
        station = table.older[station] as number
      )
        if ((table.leaf[station] ?? null) === null) removed.push(table.ids.id(station));
        else sources.push(table.sourceOf(station));
      return { ...inOrder(sources.reverse()), removed: removed.reverse() };
    },

    /** How many stations there are on all pages of a list, and their digest. */
    whole(now: number, filters?: Filters): { count: number; sum: string } {
      drain(now);
      return wholeOf(selected(filters));
    },

    /** Ids of the stations in an area. */
    idsInside: (area: Area): string[] => Array.from(sourcesOf(select(tree, area, null).hits), idOf),

    /** When a station of the area changed last, and when time alone changes one next. */
    timesInside(area: Area, now: number): Times {
      drain(now);
      return select(tree, area, null)
        .hits.map(({ block, chosen }) =>
          chosen === null ? blockTimes(block) : timesOf(block, chosen),
        )
        .reduce(laterOf, never);
    },
  };
}

const never: Times = { changedAt: -Infinity, nextAt: Infinity };
const laterOf = (a: Times, b: Times): Times => ({
  changedAt: Math.max(a.changedAt, b.changedAt),
  nextAt: Math.min(a.nextAt, b.nextAt),
});

const inOrder = (sources: readonly Source[]): Answer => ({
  count: sources.length,
  sum: sumText(addStations(emptySum(), sources)),
  pieces: () => piecesInOrder(sources),
  sources: () => sources,
});
