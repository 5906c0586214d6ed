import type { FeedRow } from "#src/feed.ts";
import { emptyState, type FuelBlock, type StationState } from "#src/domain/state.ts";
import { instants, view } from "#src/domain/view.ts";
import { createChangeList } from "#snapshots/change-list.ts";
import { compileFilters, type Filters, type Matcher } from "#snapshots/filters.ts";
import { fuelOf, renderFuel, renderStation } from "#snapshots/fragment.ts";
import { createIdOrder } from "#snapshots/id-order.ts";
import { createInstantHeap } from "#snapshots/instant-heap.ts";
import { fragmentOf, type Page, type Source } from "#snapshots/page.ts";
import { createPageTree } from "#snapshots/page-tree.ts";
import { writePages } from "#snapshots/page-writer.ts";
import { createQueries, type Queries } from "#snapshots/queries.ts";
import { foldBrand } from "#snapshots/search-text.ts";
import { type Station, newStation } from "#snapshots/station.ts";
import { addStation, emptySum, sumText } from "#snapshots/sum.ts";

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
  /** A station's fuel block as it is served, partner-api.md 2.2. */
  fuel(id: string, now: number): FuelBlock | null;
}

/** An empty read model. `lifetimeMs` is the life of a status, a pending version and a price. */
export function createReadModel({ lifetimeMs }: { lifetimeMs: number }): ReadModel {
  const tree = createPageTree();
  const byId = new Map<string, Station>();
  const order = createIdOrder();
  const changes = createChangeList();
  const heap = createInstantHeap();
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
  const enter = (station: Station, state: StationState, since: number): void => {
    const all = state === emptyState ? [] : instants(state, lifetimeMs);
    const passed = all.findLast((at) => at <= time) ?? since;
    station.changedAt = Math.max(since, passed);
    station.nextAt = all.find((at) => at > time) ?? Infinity;
    station.state = station.nextAt === Infinity ? null : state;
    heap.place(station);
  };

  const drain = (now: number): void => {
    if (now <= time) return;
    time = now;
    const put = new Map<Station, Page>();
    for (let station = heap.due(now); station !== undefined; station = heap.due(now)) {
      const { leaf, state } = station;
      if (leaf === null || state === null) continue;
      put.set(station, renderFuel(leaf.page, station.slot, view(state, now, lifetimeMs)));
      changes.drop(station);
      enter(station, state, station.changedAt);
    }
    if (put.size === 0) return;
    writePages(tree, { put, remove: new Set() });
    changes.place([...put.keys()]);
  };

  const apply = (rows: readonly FeedRow[], now: number): void => {
    drain(now);
    const put = new Map<Station, Page>();
    const remove = new Set<Station>();
    const added: Station[] = [];
    const moved: Station[] = [];
    for (const row of new Map(rows.map((one) => [one.id, one])).values()) {
      const known = byId.get(row.id);
      const station = known ?? newStation(row.id);
      if (known === undefined) byId.set(row.id, station);
      else changes.drop(station);
      moved.push(station);
      if (row.removed) {
        enter(station, emptyState, row.at);
        if (station.leaf !== null) remove.add(station);
        continue;
      }
      enter(station, row.state, row.at);
      if (station.leaf === null) added.push(station);
      const block = view(row.state, time, lifetimeMs);
      put.set(station, renderStation(station, row, brandNumber(row.brand), block));
    }
    writePages(tree, { put, remove });
    order.change(added, remove);
    changes.place(moved);
  };

  const matcher = (filters: Filters | undefined): Matcher | null =>
    filters === undefined ? null : compileFilters(filters, time, (name) => brands.get(name) ?? -1);

  const located = (id: string, now: number): (Source & { changedAt: number }) | null => {
    drain(now);
    const station = byId.get(id);
    if (station === undefined || station.leaf === null) return null;
    return { page: station.leaf.page, slot: station.slot, changedAt: station.changedAt };
  };

  return {
    ...createQueries({ tree, order, changes, matcher, drain }),
    apply,
    drain,
    nextInstant: () => heap.next(),
    station(id, now) {
      const found = located(id, now);
      if (found === null) return null;
      const sum = emptySum();
      addStation(sum, found.page, found.slot);
      const fragment = fragmentOf(found.page, found.slot);
      return { fragment, sum: sumText(sum), changedAt: found.changedAt };
    },
    fuel(id, now) {
      const found = located(id, now);
      return found === null ? null : fuelOf(found.page, found.slot);
    },
  };
}
