import type { Box, Point } from "#src/domain/geo.ts";
import type { FeedRow } from "#src/feed/feed.ts";
import { createIdTable, type IdTable } from "#src/feed/id-table.ts";
import { emptyState, type FuelBlock, type StationState } from "#src/domain/state.ts";
import { transitions, view, withChance } from "#src/domain/view.ts";
import {
  fragmentOf,
  type Rendered,
  type Block,
  type Source,
  stateOf,
  sumTextOf,
} from "#snapshots/model/block.ts";
import { createBrandTable } from "#snapshots/model/brand-table.ts";
import { createBlockCache } from "#snapshots/model/block-cache.ts";
import { createBlockList, type Area } from "#snapshots/model/block-list.ts";
import { writeBlocks, byId, byPlace } from "#snapshots/model/block-writer.ts";
import { compileFilters, type Filters, type Matcher } from "#snapshots/model/filters.ts";
import {
  fuelOf,
  readState,
  renderFuel,
  renderStation,
  writeState,
} from "#snapshots/model/fragment.ts";
import { createSchedules, type OpenState } from "#snapshots/model/schedules.ts";
import { createQueries } from "#snapshots/model/queries.ts";
import {
  createChangeOrder,
  createIdOrder,
  createTransitions,
  createStationTable,
  noStation,
} from "#snapshots/model/station-table.ts";

export type ReadModel = ReturnType<typeof createReadModel>;

/** The number of served stations, the sum of their digests, and the number of those that serve a status. */
interface ServedContent {
  count: number;
  sum: string;
  known: number;
}

/** Every process notes the content that it serves at each multiple of this (decisions 21.37). */
const momentMs = 10_000;

interface ModelSettings {
  /** Life of a status, a pending version and a price. */
  lifetimeMs: number;
  /** Bytes of the stations' JSON that are held plain, the last read first; the rest is held deflated. */
  plainBytes?: number;
  /** Blocks hold neighbours in the order of ids, not of the map: for dumps, not for searches. */
  inIdOrder?: boolean;
  /** The numbers of the stations, shared with others that keep something for each. */
  ids?: IdTable;
  /** Hears once of a time zone of stations that this runtime does not know. */
  onUnknownZone?: (zone: string) => void;
}

/**
 * All stations as they are served, in memory; empty at first. Times are ms. Every question carries `now`;
 * its answer contains all changes by the passing of time up to then. An answer that was given never changes.
 */
export function createReadModel({
  lifetimeMs,
  plainBytes = Infinity,
  inIdOrder = false,
  ids = createIdTable(),
  onUnknownZone,
}: ModelSettings) {
  const table = createStationTable(ids);
  const list = createBlockList();
  const order = createIdOrder(ids);
  const grouping = inIdOrder ? byId(table, order) : byPlace(list);
  const store = { list, table, cache: createBlockCache(plainBytes), grouping };
  const changes = createChangeOrder(table);
  /** The present ids of stations that are a part of another one. */
  const merged = new Map<string, string>();
  const passing = createTransitions(table);
  const brands = createBrandTable();
  const schedules = createSchedules(onUnknownZone);
  /** All changes by the passing of time up to here are applied. */
  let time = Number.NEGATIVE_INFINITY;
  /** Stations that were shown as of a later time, and whose rows have not come since. */
  const rewound = new Set<number>();
  let onChange: (stations: readonly number[]) => void = () => {};
  let nextMoment = Number.NEGATIVE_INFINITY;
  let onMoment: (content: ServedContent, atMs: number) => void = () => {};

  /** Times of a state's last change up to `time`, and of its next one. */
  const timesOf = (state: StationState, since: number): { changedAt: number; nextAt: number } => {
    const all = state === emptyState ? [] : transitions(state, lifetimeMs);
    const passed = all.findLast((at) => at <= time) ?? since;
    return {
      changedAt: Math.max(since, passed),
      nextAt: all.find((at) => at > time) ?? Infinity,
    };
  };
  /** Sets a station's times, from its state at `time`; the caller puts the station, rendered, into its order. */
  const enter = (station: number, { changedAt, nextAt }: ReturnType<typeof timesOf>): void => {
    table.changedAt[station] = changedAt;
    table.nextAt[station] = nextAt;
    passing.note(station);
  };

  const drain = (now: number): void => {
    if (now <= time) return;
    if (now >= nextMoment) {
      const moment = Math.floor(now / momentMs) * momentMs;
      nextMoment = moment + momentMs;
      // Left out after a step back, when the shown content is later already.
      if (moment > time) {
        pass(moment);
        onMoment({ ...queries.whole(time), known: list.known() }, moment);
      }
    }
    pass(now);
  };
  const pass = (now: number): void => {
    if (now <= time) return;
    time = now;
    const put = new Map<number, Rendered>();
    for (const station of passing.due(now)) {
      const leaf = table.leaf[station] ?? null;
      if (leaf === null) continue;
      const slot = table.slot[station] as number;
      const state = readState(stateOf(leaf.block, slot));
      const times = timesOf(state, table.changedAt[station] as number);
      const fuel = view(state, now, lifetimeMs);
      put.set(station, renderFuel(leaf.block, slot, fuel, times.nextAt === Infinity));
      changes.drop(station);
      enter(station, times);
    }
    if (put.size === 0) return;
    writeBlocks(store, { put, remove: new Set() });
    const changed = [...put.keys()];
    changes.place(changed);
    onChange(changed);
  };

  const apply = (rows: readonly FeedRow[], now: number): void => {
    drain(now);
    const put = new Map<number, Rendered>();
    const remove = new Set<number>();
    const added: number[] = [];
    const entered: (() => void)[] = [];
    const changed: number[] = [];
    for (const row of new Map(rows.map((one) => [one.id, one])).values()) {
      const [station, isNew] = table.enter(row.id);
      const inService = (table.leaf[station] ?? null) !== null;
      // It counts as changed now: a copy with the later time's state learns of this one by the next delta.
      const since = rewound.has(station) ? Math.max(row.at, time) : row.at;
      const times = timesOf(row.removed ? emptyState : row.state, since);
      changed.push(station);
      entered.push(() => {
        if (!isNew) changes.drop(station);
        enter(station, times);
        rewound.delete(station);
      });
      if (row.removed) {
        if (inService) remove.add(station);
        continue;
      }
      if (!inService) added.push(station);
      const fuel = withChance(view(row.state, time, lifetimeMs), row.chance);
      const state = times.nextAt === Infinity ? "" : writeState(row.state);
      const hours = schedules.numberOf(row.opening_hours, row, row.closed);
      const numbers = { brand: brands.numberOf(row.brand), hours };
      put.set(station, renderStation(station, row, numbers, fuel, state));
    }
    // All stations are rendered by now: an error before this has changed nothing.
    for (const one of entered) one();
    for (const { id, removed, merged_into: into } of rows)
      if (removed && into) merged.set(id, into);
      else merged.delete(id);
    writeBlocks(store, { put, remove });
    order.change(added, remove);
    changes.place(changed);
    onChange(changed);
  };

  const matcher = (filters: Filters | undefined): Matcher | null =>
    filters === undefined ? null : compileFilters(filters, time, brands, schedules.stateAt);

  const presentId = (id: string): string => merged.get(id) ?? id;
  const find = (id: string): Source | null => {
    const station = table.find(presentId(id));
    return station === noStation ? null : table.sourceOf(station);
  };
  const queries = createQueries({ list, table, order, changes, matcher, drain, merged });

  return {
    ...queries,
    /** Which spellings are one brand. */
    brands,
    /** Takes rows of the feed: inserts, changes, moves and removes. The last row of a station counts. */
    apply,
    /** Applies changes by the passing of time up to `now`. */
    drain,
    /**
     * Goes back to an earlier `now`. Gives the ids of the stations that were shown as of a later time: they stay so until
     * their rows are applied again, because an ended state is not kept here.
     */
    rewind(now: number): string[] {
      time = Math.min(time, now);
      nextMoment = Number.NEGATIVE_INFINITY;
      for (let station = 0; station < table.changedAt.length; station++)
        if ((table.changedAt[station] as number) > now) rewound.add(station);
      return [...rewound].map((station) => ids.id(station));
    },
    /** Calls `listener` with the numbers of stations after each change of them, by rows or by the passing of time. */
    watch(listener: (stations: readonly number[]) => void): void {
      onChange = listener;
    },
    /** Calls `listener` with the content served at each moment, exactly as of then, at the first call after it. */
    watchMoments(listener: typeof onMoment): void {
      onMoment = listener;
    },
    /** The id of the station that this one is a part of; else its own. */
    presentId,
    /** One station as it is served: its JSON (docs/contract.md 2.1), its digest, its last change. */
    station(id: string, now: number) {
      drain(now);
      const found = find(id);
      if (found === null) return null;
      const { block, slot } = found;
      const changedAt = table.changedAt[block.stations[slot] as number] as number;
      return { fragment: fragmentOf(block, slot), sum: sumTextOf(found), changedAt };
    },
    /** Each station, or the first ones, with its place and its `fuel` as served at `now`; later changes do not change it. */
    *each(now: number, limit = Infinity): Generator<Point & { id: string; fuel: FuelBlock }> {
      const { blocks, slots } = queries.page({ after: "", limit, now }).stations();
      for (const [i, slot] of slots.entries()) {
        const block = blocks[i] as Block;
        const [lat, lon] = block.coordinates.subarray(slot * 2) as unknown as [number, number];
        const id = ids.id(block.stations[slot] as number);
        yield { id, lat, lon, fuel: fuelOf(block, slot) };
      }
    },
    /** Whether a place with these opening hours is open at `now`, ms. */
    hoursAt: (text: string, place: Point, now: number): OpenState =>
      schedules.stateAt(schedules.numberOf(text, place), now),
    /** To be awaited before a question with the filter `opened`. */
    readHours: schedules.readAll,
    /** A station's `fuel` as it is served, docs/contract.md 2.2. */
    fuel(id: string, now: number): FuelBlock | null {
      drain(now);
      const found = find(id);
      return found === null ? null : fuelOf(found.block, found.slot);
    },
    locations: {
      find(id: string): Point | undefined {
        const found = find(id);
        if (found === null) return undefined;
        const [lat, lon] = found.block.coordinates.subarray(found.slot * 2) as unknown as number[];
        return { lat: lat as number, lon: lon as number };
      },
      /** Ids of the stations within `radiusM` of a point. */
      within: (centre: Point, radiusM: number): string[] =>
        queries.idsInside({ kind: "circle", centre, radiusM }),
      /** True when a station is in that area. */
      isInside: (area: Area): boolean => queries.idsInside(area).length > 0,
      /** The rectangle around all stations; null without stations. */
      box: () => list.box(),
      /** The middle of the rectangle around most stations, with a zoom that fits a screen; null without stations. */
      middle: () => middleOf(list.mainBox()),
    },
  };
}

function middleOf(box: Box | null): (Point & { zoom: number }) | null {
  if (box === null) return null;
  const { south, west, north, east } = box;
  // At zoom 0 the world's 360° are 512 px wide; a phone's screen is about as wide.
  const span = Math.max(east - west, 2 * (north - south), 0.05);
  const zoom = Math.min(12, Math.floor(Math.log2(360 / span)));
  return { lat: (south + north) / 2, lon: (west + east) / 2, zoom };
}
