import {
  addStation,
  type Block,
  emptySum,
  field,
  recordSize,
  sizeAt,
  type Stations,
  sumOfStations,
  sumText,
} from "#snapshots/model/block.ts";
import type { Point } from "#src/domain/geo.ts";
import { hourS, minuteMs } from "#src/domain/units.ts";
import { findAlong } from "#snapshots/model/along.ts";
import type { Area, BlockList } from "#snapshots/model/block-list.ts";
import type { Filters, Matcher } from "#snapshots/model/filters.ts";
import { foldText } from "#src/contract/fold-text.ts";
import { findNearest } from "#snapshots/model/nearest.ts";
import {
  byBlock,
  byChance,
  copiedMost,
  type Hit,
  type Piece,
  piecesInOrder,
  piecesOf,
  select,
  type Selection,
  deflatedShare,
  stationsOf,
  takeLong,
} from "#snapshots/model/area-selection.ts";
import {
  type ChangeOrder,
  type IdOrder,
  noStation,
  type StationTable,
} from "#snapshots/model/station-table.ts";
import { perObject } from "#src/infrastructure/lists.ts";
import { alone, inTurns } from "#src/infrastructure/turns.ts";

/** A list of stations, found but not yet written. Equal `sum` and `count` mean equal content. */
export interface Answer {
  count: number;
  sum: string;
  /** The stations' JSON in pieces: joined they read `{…},{…}`. They stay valid after later changes. */
  pieces(): Piece[];
  /** The part of the stations, 0 to 1, that stands in whole blocks, which are deflated once for all answers. */
  deflatedShare(): number;
  /** True when writing it takes longer than a turn of the event loop: then it is `written` (see forms.ts). */
  isLong(): boolean;
  /** The same stations in the same order. */
  stations(): Stations;
}

/**
 * Stations that have changed; `removed`: ids of those taken out of service, `mergedInto`: of these the ones that are a
 * part of another station now, with its id; undefined without one.
 */
export type Changes = Answer & {
  removed: string[];
  mergedInto: Record<string, string> | undefined;
};

/** `digest`: of all stations of that moment. */
type Delta = Changes & { digest: string };

export type Sort = "distance" | "chance";

export interface AreaQuery {
  area: Area;
  filters?: Filters;
  /**
   * `distance`: nearest to the area's centre first, ties by id; `chance`: the highest chance first, unknown ones last, ties
   * by distance.
   */
  sort?: Sort;
  /** Most stations; those nearest to the area's centre are kept. */
  limit: number;
  now: number;
}

interface AlongQuery {
  line: readonly Point[];
  bufferM: number;
  filters: Filters;
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

/** The parts of the model that queries read. */
interface Parts {
  list: BlockList;
  table: StationTable;
  order: IdOrder;
  changes: ChangeOrder;
  matcher(filters: Filters | undefined): Matcher | null;
  drain(now: number): void;
  /** Present ids of stations that are a part of another one. */
  merged: ReadonlyMap<string, string>;
}

export function createQueries({ list, table, order, changes, matcher, drain, merged }: Parts) {
  const idOf = (block: Block, slot: number): string => table.ids.id(block.stations[slot] as number);

  const nextAmong = ({ block: { stations }, chosen }: Hit): number => {
    let next = Infinity;
    for (let slot = 0; slot < stations.length; slot++)
      if (chosen === null || chosen[slot] === 1)
        next = Math.min(next, table.nextAt[stations[slot] as number] as number);
    return next;
  };
  /** Every change of a station makes a new block, so the times of a block never change. */
  const nextIn = perObject((block: Block) => nextAmong({ block, chosen: null }));

  /** Time at which the first of these statuses becomes older than `freshH` hours. */
  const nextTooOld = ({ block, chosen }: Hit, now: number, freshH: number): number => {
    const { stations, records } = block;
    const sinceS = now / 1000 - freshH * hourS;
    let firstS = Infinity;
    for (let slot = 0; slot < stations.length; slot++) {
      if (chosen !== null && chosen[slot] !== 1) continue;
      const updatedS = records[slot * recordSize + field.updatedS] as number;
      if (updatedS >= sinceS && updatedS < firstS) firstS = updatedS;
    }
    return (firstS + freshH * hourS) * 1000;
  };

  /** The stations that pass; null for all of them. */
  const selected = (filters: Filters | undefined): Selection | null => {
    const passes = matcher(filters);
    return passes === null ? null : select(list, { kind: "all" }, passes);
  };
  const wholeOf = (found: Selection | null): { count: number; sum: string } => ({
    count: found?.count ?? list.count(),
    sum: sumText(found?.sum ?? list.sum()),
  });

  /** Numbers of the stations changed at or after `sinceMs`, oldest change first; of more than `most` the newest. */
  const changedSince = (sinceMs: number, now: number, most = Infinity): number[] => {
    drain(now);
    const { older, changedAt } = table;
    const found: number[] = [];
    // Nothing has changed at `noStation`.
    for (let at = changes.newest(); (changedAt[at] as number) >= sinceMs; at = older[at] as number)
      if (found.push(at) === most) break;
    return found.reverse();
  };

  const changesOf = (stations: Iterable<number>): Changes => {
    const found: Stations = { blocks: [], slots: [] };
    const removed: string[] = [];
    for (const station of stations)
      if ((table.leaf[station] ?? null) === null) removed.push(table.ids.id(station));
      else table.addTo(found, station);
    return withRemoved(inOrder(found), removed);
  };
  const withRemoved = (answer: Answer, removed: string[]): Changes => {
    const parts = removed.filter((id) => merged.has(id)).map((id) => [id, merged.get(id)!]);
    const mergedInto = parts.length === 0 ? undefined : Object.fromEntries(parts);
    return { ...answer, removed, mergedInto };
  };

  /** The same for many, as of the first step. For a whole country half of what it costs to look each station up. */
  function* changesByBlock(sinceMs: number, now: number): Generator<undefined, Delta> {
    const found = changedSince(sinceMs, now);
    const digest = wholeOf(null).sum;
    const blocks = list.leaves().map(({ block }) => block);
    const order = new Int32Array(table.changedAt.length).fill(noStation);
    for (let i = 0; i < found.length; i++) order[found[i] as number] = i;
    const places: (Block | null)[] = found.map(() => null);
    const slots = found.map(() => 0);
    const sum = emptySum();
    let size = 0;
    for (const block of blocks) {
      yield;
      for (let slot = 0; slot < block.stations.length; slot++) {
        const i = order[block.stations[slot] as number] as number;
        if (i === noStation) continue;
        places[i] = block;
        slots[i] = slot;
        addStation(sum, block, slot);
        size += sizeAt(block, slot);
      }
    }
    const removed = found.filter((_, i) => places[i] === null).map((one) => table.ids.id(one));
    const kept = {
      blocks: places.filter((one) => one !== null),
      slots: slots.filter((_, i) => places[i] !== null),
      size,
    };
    return { ...withRemoved(inOrder(kept, sum), removed), digest };
  }

  return {
    query({ area, filters, sort, limit, now }: AreaQuery): Answer & { truncated: boolean } {
      drain(now);
      const passes = matcher(filters);
      const found = passes === null && sort === undefined ? select(list, area, null) : null;
      if (found !== null && found.count <= limit)
        return {
          ...{ count: found.count, sum: sumText(found.sum), truncated: false },
          ...inBlocks(() => found.hits),
          stations: () => stationsOf(found.hits),
        };
      const byId = table.ids.compare;
      const { kept, truncated } = findNearest(list, { area, matcher: passes, limit, byId });
      const answer = { ...inOrder(sort === "chance" ? byChance(kept) : kept), truncated };
      return sort === undefined ? { ...answer, ...inBlocks(() => byBlock(kept)) } : answer;
    },

    /** The stations of these ids that pass, in this order, each once; `missing`: ids that are not in service. */
    byIds(
      ids: readonly string[],
      filters: Filters,
      now: number,
    ): Answer & { truncated: boolean; missing: string[] } {
      drain(now);
      const passes = matcher(filters);
      const passing = new Map<Block, Uint8Array>();
      const found: Stations = { blocks: [], slots: [] };
      const missing: string[] = [];
      const taken = new Set<number>();
      for (const id of new Set(ids)) {
        const station = table.find(merged.get(id) ?? id);
        if (station === noStation) missing.push(id);
        // A station may be asked for by its own id and by those of its parts.
        if (station === noStation || taken.has(station)) continue;
        taken.add(station);
        const { block, slot } = table.sourceOf(station);
        if (passes !== null && !passing.has(block)) passing.set(block, passes(block, null));
        if (passes === null || passing.get(block)?.[slot] === 1) table.addTo(found, station);
      }
      return { ...inOrder(found), truncated: false, missing };
    },

    /**
     * The stations within `bufferM` of a line, in the order of the way; the first `limit` of them. `along`: metres from
     * the beginning of the line, and from the line.
     */
    along({ line, bufferM, filters, limit, now }: AlongQuery) {
      drain(now);
      const byId = table.ids.compare;
      const found = findAlong(list, line, bufferM, matcher(filters), byId);
      const kept = found.slice(0, limit);
      const along = kept.map(({ station, atM, offM }) => ({
        id: table.ids.id(station),
        at_m: Math.round(atM),
        off_m: Math.round(offM),
      }));
      const stations = {
        blocks: kept.map(({ block }) => block),
        slots: kept.map(({ slot }) => slot),
      };
      return { ...inOrder(stations), truncated: found.length > limit, along };
    },

    /** A page in id order, and its whole list. `next`: id of the page's last station when more follow, else "". */
    page({ filters, after, limit, now }: PageQuery) {
      drain(now);
      const found = selected(filters);
      const passes = new Map(found?.hits.map((hit) => [hit.block, hit.chosen]));
      const stations = order.stations();
      const page: Stations = { blocks: [], slots: [] };
      let next = "";
      let last = noStation;
      for (let i = after === "" ? 0 : order.after(after); i < stations.length; i++) {
        const station = stations[i] as number;
        const { block, slot } = table.sourceOf(station);
        if (found !== null && passes.get(block)?.[slot] !== 1) continue;
        if (page.slots.length === limit) {
          next = table.ids.id(last);
          break;
        }
        table.addTo(page, station);
        last = station;
      }
      return { ...inOrder(page), whole: wholeOf(found), next };
    },

    /**
     * Ids for somebody who types `text` (decisions 13.19): that id itself, then stations with every word of it in name,
     * brand or address, then those whose id begins so. At most `limit`: the search ends as soon as it has so many.
     */
    typed(text: string, limit: number, now: number): string[] {
      drain(now);
      const found = new Set<string>();
      if (table.find(text) !== noStation) found.add(text);
      const words = foldText(text).split(" ");
      const passes = matcher({ words: words.filter((word) => word !== "") });
      // The text has only blanks.
      if (passes === null) return [];
      for (const { block } of list.leaves()) {
        if (found.size >= limit) break;
        const chosen = passes(block, null);
        for (let slot = 0; slot < chosen.length && found.size < limit; slot++)
          if (chosen[slot] === 1) found.add(idOf(block, slot));
      }
      const stations = order.stations();
      for (let i = order.after(text); i < stations.length && found.size < limit; i++) {
        const id = table.ids.id(stations[i] as number);
        if (!id.startsWith(text)) break;
        found.add(id);
      }
      return [...found];
    },

    /**
     * Stations changed at or after `sinceMs`, oldest first, and ids of those taken out of service: as of `now` or later.
     * `mayWait` is called before a long search, which waits for its turn; what it throws is thrown.
     */
    async delta(sinceMs: number, now: number, mayWait?: () => void): Promise<Delta> {
      const stations = changedSince(sinceMs, now, copiedMost + 1);
      if (stations.length <= copiedMost)
        return { ...changesOf(stations), digest: wholeOf(null).sum };
      mayWait?.();
      return alone(() => inTurns(changesByBlock(sinceMs, now)));
    },

    changedSince,

    /** These stations by their numbers, as they are now, in this order. */
    changesOf(stations: Iterable<number>, now: number): Changes {
      drain(now);
      return changesOf(stations);
    },

    /** Time of the last change of any station, or of its end of service, ms; null without one. */
    lastChange(now: number): number | null {
      drain(now);
      const newest = changes.newest();
      return newest === noStation ? null : (table.changedAt[newest] as number);
    },

    /** Time of the last change of the station with this number, ms. */
    changedAt: (station: number): number => table.changedAt[station] as number,

    /** The number of stations on all pages of a list, and their digest. */
    whole(now: number, filters?: Filters): { count: number; sum: string } {
      drain(now);
      return wholeOf(selected(filters));
    },

    /** Ids of the stations in an area. */
    idsInside(area: Area): string[] {
      const { blocks, slots } = stationsOf(select(list, area, null).hits);
      return slots.map((slot, i) => idOf(blocks[i] as Block, slot));
    },

    /**
     * Time of the next change of this area's answer by the passing of time, ms; Infinity for never. With `opened` at most
     * the next minute: stations open and close at whole minutes.
     */
    nextChange(area: Area, now: number, { freshH, opened }: Filters = {}): number {
      drain(now);
      const nextMinute = (Math.floor(now / minuteMs) + 1) * minuteMs;
      return select(list, area, null)
        .hits.map((hit) => {
          const next = hit.chosen === null ? nextIn(hit.block) : nextAmong(hit);
          return freshH === undefined ? next : Math.min(next, nextTooOld(hit, now, freshH));
        })
        .reduce((a, b) => Math.min(a, b), opened !== undefined ? nextMinute : Infinity);
    },
  };
}

/** Writes a result without an order. `make` is called once, at the first writing. */
function inBlocks(make: () => readonly Hit[]): Omit<Answer, "count" | "sum" | "stations"> {
  let made: readonly Hit[] | null = null;
  const hits = (): readonly Hit[] => (made ??= make());
  return {
    pieces: () => piecesOf(hits()),
    deflatedShare: () => deflatedShare(hits()),
    isLong: () => takeLong(hits().map(({ block }) => block)),
  };
}

const inOrder = (stations: Stations, sum = sumOfStations(stations)): Answer => ({
  count: stations.slots.length,
  sum: sumText(sum),
  pieces: () => piecesInOrder(stations),
  deflatedShare: () => 0,
  isLong: () => takeLong(stations.blocks),
  stations: () => stations,
});
