import type { Area } from "#snapshots/model/area.ts";
import type { ChangeList } from "#snapshots/model/change-list.ts";
import type { Filters, Matcher } from "#snapshots/model/filters.ts";
import type { IdOrder } from "#snapshots/model/id-order.ts";
import type { Page, Source } from "#snapshots/model/block.ts";
import type { Leaf, PageTree } from "#snapshots/model/block-tree.ts";
import {
  byPage,
  copyInOrder,
  nearest,
  type Piece,
  piecesInOrder,
  piecesOf,
  select,
  sourcesOf,
} from "#snapshots/model/selection.ts";
import { nobody, type StationTable } from "#snapshots/model/station-table.ts";
import { addStation, emptySum, type Sum, sumText } from "#snapshots/model/sum.ts";

/** A list of stations, found but not yet written. Equal `sum` and `count` mean equal content. */
export interface Answer {
  count: number;
  sum: string;
  /** The stations' JSON in pieces: joined they read `{…},{…}`. Valid for good, also after later changes. */
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

export interface PageQuery {
  filters?: Filters;
  /** Id after which the page begins; "" for the first. */
  after: string;
  limit: number;
  now: number;
}

/** A page in id order together with what it is a page of. */
export interface PageAnswer extends Answer {
  whole: { count: number; sum: string };
  /** Id of the page's last station when more follow, else "". */
  next: string;
}

/** The whole country at one moment, to be written in parts. */
export interface Frozen {
  count: number;
  sum: string;
  /** JSON of stations in id order, `perPart` at a time; joined they read `{…},{…}`. */
  parts(perPart: number): Generator<Buffer>;
}

export interface Queries {
  query(query: AreaQuery): Answer & { truncated: boolean };
  page(query: PageQuery): PageAnswer;
  /** Stations changed at or after `sinceMs`, oldest change first, and ids of those taken out of service. */
  delta(sinceMs: number, now: number): Answer & { removed: string[] };
  whole(now: number, filters?: Filters): { count: number; sum: string };
  /** Ids of the stations in an area. */
  idsInside(area: Area): string[];
  /** When the stations of an area have changed last, and when time alone changes one of them next. */
  timesInside(area: Area, now: number): Times;
  freeze(now: number): Frozen;
}

/** ms; the same on every process that has applied the same. */
export interface Times {
  /** -Infinity when there are no stations. */
  changedAt: number;
  /** Infinity when time changes nothing. */
  nextAt: number;
}

/** What the model lends to its queries. */
interface Parts {
  tree: PageTree;
  table: StationTable;
  order: IdOrder;
  changes: ChangeList;
  matcher(filters: Filters | undefined): Matcher | null;
  drain(now: number): void;
}

export function createQueries({ tree, table, order, changes, matcher, drain }: Parts): Queries {
  const sourceOf = (station: number): Source => ({
    page: (table.leaf[station] as Leaf).page,
    slot: table.slot[station] as number,
  });
  const idOf = ({ page, slot }: Source): string => table.ids.id(page.stations[slot] as number);
  const timesByPage = new WeakMap<Page, Times>();

  const timesOf = ({ stations }: Page, chosen: Uint8Array | null): Times => {
    let { changedAt, nextAt } = never;
    for (let slot = 0; slot < stations.length; slot++) {
      if (chosen !== null && chosen[slot] !== 1) continue;
      const station = stations[slot] as number;
      changedAt = Math.max(changedAt, table.changedAt[station] as number);
      nextAt = Math.min(nextAt, table.nextAt[station] as number);
    }
    return { changedAt, nextAt };
  };

  /** Whatever changes a station makes a new page, so a page's times stay as they are. */
  const pageTimes = (page: Page): Times => {
    let times = timesByPage.get(page);
    if (times === undefined) timesByPage.set(page, (times = timesOf(page, null)));
    return times;
  };

  const everywhere = { kind: "all" } as const;
  return {
    query({ area, filters, sort, limit, now }) {
      drain(now);
      const found = select(tree, area, matcher(filters));
      const truncated = found.count > limit;
      if (!truncated && sort === undefined)
        return {
          count: found.count,
          sum: sumText(found.sum),
          truncated,
          pieces: () => piecesOf(found.hits),
          sources: () => sourcesOf(found.hits),
        };
      const ranked = nearest(found.hits, found.region.centre, limit, table.ids.compare);
      return {
        count: ranked.length,
        sum: sumText(truncated ? sumOf(ranked) : found.sum),
        truncated,
        pieces: () => (sort === undefined ? piecesOf(byPage(ranked)) : piecesInOrder(ranked)),
        sources: () => ranked,
      };
    },

    page({ filters, after, limit, now }) {
      drain(now);
      const chosen = matcher(filters);
      const found = chosen === null ? null : select(tree, everywhere, chosen);
      const passes = new Map(found?.hits.map((hit) => [hit.page, hit.chosen]));
      const stations = order.stations();
      const sources: Source[] = [];
      let next = "";
      for (let i = after === "" ? 0 : order.after(after); i < stations.length; i++) {
        const source = sourceOf(stations[i] as number);
        if (found !== null && passes.get(source.page)?.[source.slot] !== 1) continue;
        if (sources.length === limit) {
          next = idOf(sources.at(-1) as Source);
          break;
        }
        sources.push(source);
      }
      const whole = found ?? { count: tree.count(), sum: tree.sum() };
      return {
        count: sources.length,
        sum: sumText(sumOf(sources)),
        whole: { count: whole.count, sum: sumText(whole.sum) },
        next,
        pieces: () => piecesInOrder(sources),
        sources: () => sources,
      };
    },

    delta(sinceMs, now) {
      drain(now);
      const sources: Source[] = [];
      const removed: string[] = [];
      for (
        let one = changes.newest();
        one !== nobody && (table.changedAt[one] as number) >= sinceMs;
        one = table.older[one] as number
      )
        if ((table.leaf[one] ?? null) === null) removed.push(table.ids.id(one));
        else sources.push(sourceOf(one));
      sources.reverse();
      removed.reverse();
      return {
        count: sources.length,
        sum: sumText(sumOf(sources)),
        removed,
        pieces: () => piecesInOrder(sources),
        sources: () => sources,
      };
    },

    whole(now, filters) {
      drain(now);
      const chosen = matcher(filters);
      if (chosen === null) return { count: tree.count(), sum: sumText(tree.sum()) };
      const found = select(tree, everywhere, chosen);
      return { count: found.count, sum: sumText(found.sum) };
    },

    idsInside: (area) => Array.from(sourcesOf(select(tree, area, null).hits), idOf),

    timesInside(area, now) {
      drain(now);
      return select(tree, area, null)
        .hits.map(({ page, chosen }) => (chosen === null ? pageTimes(page) : timesOf(page, chosen)))
        .reduce(laterOf, never);
    },

    freeze(now) {
      drain(now);
      const sources = Array.from(order.stations(), sourceOf);
      return {
        count: sources.length,
        sum: sumText(tree.sum()),
        *parts(perPart) {
          for (let from = 0; from < sources.length; from += perPart) {
            const copy = copyInOrder(sources.slice(from, from + perPart));
            yield from + perPart < sources.length ? copy : copy.subarray(0, -1);
          }
        },
      };
    },
  };
}

const never: Times = { changedAt: -Infinity, nextAt: Infinity };
const laterOf = (a: Times, b: Times): Times => ({
  changedAt: Math.max(a.changedAt, b.changedAt),
  nextAt: Math.min(a.nextAt, b.nextAt),
});

function sumOf(sources: readonly Source[]): Sum {
  const sum = emptySum();
  for (const { page, slot } of sources) addStation(sum, page, slot);
  return sum;
}
