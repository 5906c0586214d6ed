import type { Box, Point } from "#src/domain/geo.ts";
import type { FeedRow } from "#src/feed/feed.ts";
import { createIdTable, type IdTable } from "#src/feed/id-table.ts";
import { emptyState, type FuelBlock, type StationState } from "#src/domain/state.ts";
import { instants, view } from "#src/domain/view.ts";
import { createChangeList } from "#snapshots/model/change-list.ts";
import { compileFilters, type Filters, type Matcher } from "#snapshots/model/filters.ts";
import { fuelOf, renderFuel, renderStation } from "#snapshots/model/fragment.ts";
import { createIdOrder } from "#snapshots/model/id-order.ts";
import { createTransitionHeap } from "#snapshots/model/transition-heap.ts";
import { fragmentOf, type Rendered, type Source, stateOf } from "#snapshots/model/block.ts";
import { createPageShelf } from "#snapshots/model/block-shelf.ts";
import { createPageTree, type Leaf } from "#snapshots/model/block-tree.ts";
import { writePages } from "#snapshots/model/block-writer.ts";
import { createQueries, type Queries } from "#snapshots/model/queries.ts";
import { foldBrand } from "#snapshots/model/search-text.ts";
import { readState, writeState } from "#snapshots/model/state-text.ts";
import { createStationTable, nobody } from "#snapshots/model/station-table.ts";
import { addStation, emptySum, sumText } from "#snapshots/model/sum.ts";

/** One station as it is served now. */
export interface OneStation {
  /** Its JSON, partner-api.md 2.1. */
  fragment: Buffer;
  sum: string;
  changedAt: number;
}

/**
 * All stations as they are served, in memory (design 4). Times are ms; every question carries `now` and
 * is answered after all that time alone changed up to then. Answers already given never change.
 */
export interface ReadModel extends Queries {
  /** Takes rows of the feed: inserts, changes, moves and removes. The last row of a station counts. */
  apply(rows: readonly FeedRow[], now: number): void;
  /** Applies what time alone has changed up to `now`. */
  drain(now: number): void;
  /** The next instant at which time alone changes something, ms; Infinity when there is none. */
  nextInstant(): number;
  station(id: string, now: number): OneStation | null;
  /** The rectangle around all stations in service; null without any. */
  box(): Box | null;
  /** Where a station in service is. */
  place(id: string): Point | undefined;
  /** A station's fuel block as it is served, partner-api.md 2.2. */
  fuel(id: string, now: number): FuelBlock | null;
}

export interface ModelSettings {
  /** Life of a status, a pending version and a price. */
  lifetimeMs: number;
  /** Of the JSON of all stations this much is held plain, what was read last; the rest deflated. */
  plainBytes?: number;
  /** The numbers of the stations, shared with others that keep something for each. */
  ids?: IdTable;
}

/** An empty read model. */
export function createReadModel({
  lifetimeMs,
  plainBytes = Infinity,
  ids = createIdTable(),
}: ModelSettings): ReadModel {
  const table = createStationTable(ids);
  const tree = createPageTree();
  const book = { tree, table, shelf: createPageShelf(plainBytes) };
  const order = createIdOrder(ids);
  const changes = createChangeList(table);
  const heap = createTransitionHeap(table);
  const brands = new Map<string, number>();
  let time = Number.NEGATIVE_INFINITY;

  const brandNumber = (name: string): number => {
    const folded = foldBrand(name);
    const known = brands.get(folded);
    if (known !== undefined) return known;
    brands.set(folded, brands.size);
    return brands.size - 1;
  };

  /** Sets what follows from a state at `time`; the caller renders and places the station. */
  const enter = (station: number, state: StationState, since: number): void => {
    const all = state === emptyState ? [] : instants(state, lifetimeMs);
    const passed = all.findLast((at) => at <= time) ?? since;
    table.changedAt[station] = Math.max(since, passed);
    table.nextAt[station] = all.find((at) => at > time) ?? Infinity;
    heap.place(station);
  };
  const ended = (station: number): boolean => table.nextAt[station] === Infinity;

  const drain = (now: number): void => {
    if (now <= time) return;
    time = now;
    const put = new Map<number, Rendered>();
    for (let station = heap.due(now); station !== nobody; station = heap.due(now)) {
      const leaf = table.leaf[station] ?? null;
      if (leaf === null) continue;
      const slot = table.slot[station] as number;
      const state = readState(stateOf(leaf.page, slot));
      changes.drop(station);
      enter(station, state, table.changedAt[station] as number);
      const block = view(state, now, lifetimeMs);
      put.set(station, renderFuel(leaf.page, slot, block, ended(station)));
    }
    if (put.size === 0) return;
    writePages(book, { put, remove: new Set() });
    changes.place([...put.keys()]);
  };

  const apply = (rows: readonly FeedRow[], now: number): void => {
    drain(now);
    const put = new Map<number, Rendered>();
    const remove = new Set<number>();
    const added: number[] = [];
    const moved: number[] = [];
    for (const row of new Map(rows.map((one) => [one.id, one])).values()) {
      const [station, isNew] = table.enter(row.id);
      if (!isNew) changes.drop(station);
      moved.push(station);
      const inService = (table.leaf[station] ?? null) !== null;
      if (row.removed) {
        enter(station, emptyState, row.at);
        if (inService) remove.add(station);
        continue;
      }
      enter(station, row.state, row.at);
      if (!inService) added.push(station);
      const block = view(row.state, time, lifetimeMs);
      const kept = ended(station) ? "" : writeState(row.state);
      put.set(station, renderStation(station, row, brandNumber(row.brand), block, kept));
    }
    writePages(book, { put, remove });
    order.change(added, remove);
    changes.place(moved);
  };

  const matcher = (filters: Filters | undefined): Matcher | null =>
    filters === undefined ? null : compileFilters(filters, time, (name) => brands.get(name) ?? -1);

  const sourceOf = (id: string): Source | null => {
    const station = table.find(id);
    if (station === nobody) return null;
    return { page: (table.leaf[station] as Leaf).page, slot: table.slot[station] as number };
  };
  const located = (id: string, now: number): Source | null => {
    drain(now);
    return sourceOf(id);
  };

  return {
    ...createQueries({ tree, table, order, changes, matcher, drain }),
    apply,
    drain,
    nextInstant: () => heap.next(),
    box: () => tree.box(),
    place(id) {
      const found = sourceOf(id);
      if (found === null) return undefined;
      const [lat, lon] = found.page.coordinates.subarray(found.slot * 2) as unknown as number[];
      return { lat: lat as number, lon: lon as number };
    },
    station(id, now) {
      const found = located(id, now);
      if (found === null) return null;
      const sum = emptySum();
      addStation(sum, found.page, found.slot);
      const changedAt = table.changedAt[found.page.stations[found.slot] as number] as number;
      return { fragment: fragmentOf(found.page, found.slot), sum: sumText(sum), changedAt };
    },
    fuel(id, now) {
      const found = located(id, now);
      return found === null ? null : fuelOf(found.page, found.slot);
    },
  };
}
