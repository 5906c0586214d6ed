import { isAsWanted, isShut, shownClosure } from "#test/oracle/hours.ts";
import type { Closure } from "#src/domain/closure.ts";
import { distanceM } from "#src/domain/geo.ts";
import { lacks } from "#src/domain/grade-answer.ts";
import type { FuelBlock } from "#src/domain/state.ts";
import { parseTime } from "#src/domain/time.ts";
import { transitions, view, withChance } from "#src/domain/view.ts";
import type { FeedRow } from "#src/feed/feed.ts";
import type { Area } from "#snapshots/model/block-list.ts";
import type { Filters } from "#snapshots/model/filters.ts";
import type { AreaQuery } from "#snapshots/model/queries.ts";
import { isBrand } from "#test/oracle/brands.ts";

/** A station as a plain object: what the answers must read like. */
export interface PlainStation {
  id: string;
  lat: number;
  lon: number;
  brand: string;
  name: string;
  addr: string;
  grades_sold?: string;
  opening_hours?: string;
  closed?: Closure;
  fuel: FuelBlock;
}

/** The read model written for obviousness: a map of rows, every answer from scratch. */
export function createOracle(lifetimeMs: number) {
  const rows = new Map<string, FeedRow>();
  const show = (row: FeedRow, now: number): PlainStation => {
    const { id, lat, lon, brand, name, addr, grades_sold, opening_hours, closed = "" } = row;
    return {
      ...{ id, lat, lon, brand, name, addr },
      ...(grades_sold === "" ? {} : { grades_sold }),
      ...(opening_hours === "" ? {} : { opening_hours }),
      ...shownClosure(closed),
      fuel: withChance(view(row.state, now, lifetimeMs), row.chance),
    };
  };
  const changedAt = (row: FeedRow, now: number): number =>
    row.removed
      ? row.at
      : Math.max(row.at, ...transitions(row.state, lifetimeMs).filter((at) => at <= now));
  const byId = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : 1);

  return {
    apply(given: readonly FeedRow[]): void {
      for (const row of given) rows.set(row.id, row);
    },
    all: (filters: Filters, now: number): PlainStation[] =>
      [...rows.values()]
        .filter((row) => !row.removed)
        .map((row) => show(row, now))
        .filter((station) => passes(station, filters, now))
        .sort(byId),
    /** Nearest first, or of these the likeliest first; the model promises an order only with `sort`. */
    query({ area, filters = {}, sort, limit, now }: AreaQuery): PlainStation[] {
      const centre = centreOf(area);
      const far = (station: PlainStation): number => distanceM(centre, station);
      return [...rows.values()]
        .filter((row) => !row.removed && lies(row, area))
        .map((row) => show(row, now))
        .filter((station) => passes(station, filters, now))
        .sort((a, b) => far(a) - far(b) || byId(a, b))
        .slice(0, limit)
        .sort((a, b) => (sort === "chance" ? (b.fuel.chance ?? -1) - (a.fuel.chance ?? -1) : 0));
    },
    delta(sinceMs: number, now: number): { stations: PlainStation[]; removed: string[] } {
      const changed = [...rows.values()]
        .filter((row) => changedAt(row, now) >= sinceMs)
        .sort((a, b) => changedAt(a, now) - changedAt(b, now) || byId(a, b));
      return {
        stations: changed.filter((row) => !row.removed).map((row) => show(row, now)),
        removed: changed.filter((row) => row.removed).map((row) => row.id),
      };
    },
  };
}

function centreOf(area: Area): { lat: number; lon: number } {
  if (area.kind === "circle") return area.centre;
  if (area.kind === "all") return { lat: 0, lon: 0 };
  const { south, west, north, east } = area.box;
  const lon = west + (west > east ? east + 360 - west : east - west) / 2;
  return { lat: (south + north) / 2, lon: lon > 180 ? lon - 360 : lon };
}

function lies(point: { lat: number; lon: number }, area: Area): boolean {
  if (area.kind === "all") return true;
  if (area.kind === "circle") return distanceM(area.centre, point) <= area.radiusM;
  const { south, west, north, east } = area.box;
  if (point.lat < south || point.lat > north) return false;
  return west > east
    ? point.lon >= west || point.lon <= east
    : point.lon >= west && point.lon <= east;
}

function passes(station: PlainStation, filters: Filters, now: number): boolean {
  const { fuel } = station;
  const plain = (text: string): string => text.toLowerCase().replaceAll("ё", "е");
  const texts = [station.name, station.brand, station.addr].map(plain);
  const here = fuel.fuels_now.split(",");
  const ageMs = now - (parseTime(fuel.updated) ?? 0);
  return (
    (!filters.statuses?.length || filters.statuses.includes(fuel.status)) &&
    (filters.grades ?? []).every((grade) => here.includes(grade)) &&
    (!filters.queues?.length || (filters.queues as readonly string[]).includes(fuel.queue)) &&
    (!filters.brand || isBrand(station.brand, filters.brand)) &&
    (!filters.priced || fuel.prices !== undefined) &&
    (filters.freshH === undefined ||
      (fuel.status !== "nodata" && ageMs <= filters.freshH * 3600_000)) &&
    (filters.chanceMin === undefined || (fuel.chance ?? -1) >= filters.chanceMin) &&
    (filters.mayHave === undefined || !lacks(station, filters.mayHave)) &&
    (filters.sold ?? []).every((grade) => station.grades_sold?.split(",").includes(grade)) &&
    (filters.opened === undefined ||
      (isShut(station.closed, now)
        ? !filters.opened
        : isAsWanted(filters.opened, station.opening_hours ?? "", now, station))) &&
    (filters.words ?? []).every(
      (word) => texts.some((text) => text.includes(word)) || isBrand(station.brand, word),
    )
  );
}
