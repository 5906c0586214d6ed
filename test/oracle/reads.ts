import { isAsWanted, isShut, shownClosure } from "#test/oracle/hours.ts";
import { distanceM, type Point } from "#src/domain/geo.ts";
import { emptyState, type FuelBlock, type StationState } from "#src/domain/state.ts";
import { parseTime } from "#src/domain/time.ts";
import { transitions, view } from "#src/domain/view.ts";
import type { ServedFacts, StationRow } from "#src/feed/feed.ts";
import { isBrand } from "#test/oracle/brands.ts";

/** A station as it must be served. */
export type Shown = ServedFacts & { fuel: FuelBlock };

/** What a caller means, before it is spelt as a query. */
export interface Wanted {
  words: readonly string[];
  statuses: readonly string[];
  /** Grades as they are served, those of `q` among them. */
  grades: readonly string[];
  brand: string;
  hasPrice: boolean;
  queues: readonly string[];
  freshH: number | null;
  sold: readonly string[];
  /** The hours must be of `knownHours`. */
  opened: boolean | null;
  chanceMin: number | null;
}

export type Place =
  | { box: readonly [lat1: number, lon1: number, lat2: number, lon2: number] }
  | { centre: Point; radiusKm: number };

/** A station with everything that its rows say. */
export interface Known extends StationRow {
  state: StationState;
  chance: number | null;
  /** Time of its stamp in the feed, ms. */
  at: number;
  removed: boolean;
}

const lifetimeMs = 24 * 3600_000;
const byId = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : 1);
const lower = (text: string): string => text.toLowerCase().replaceAll("ё", "е");

/** A station's facts as they must be served: without those that are unknown. */
export function shownFacts(row: StationRow): ServedFacts {
  const { id, lat, lon, brand, name, addr, grades_sold, opening_hours, closed = "" } = row;
  return {
    ...{ id, lat, lon, brand, name, addr },
    ...(grades_sold === "" ? {} : { grades_sold }),
    ...(opening_hours === "" ? {} : { opening_hours }),
    ...shownClosure(closed),
  };
}

/** Its `fuel` as it must be served: the state at `now`, and the chance beside it where it is known. */
export function shownFuel(
  { state, chance }: { state: StationState | null; chance: number | null },
  now: number,
  lifeMs = lifetimeMs,
): FuelBlock {
  const fuel = view(state ?? emptyState, now, lifeMs);
  return chance === null ? fuel : { chance, ...fuel };
}

/** All stations in one list, each question answered by going through it. docs/contract.md 2.3, 4.1 to 4.3; decisions 7. */
export function createReads(known: readonly Known[]) {
  let now = Number.NEGATIVE_INFINITY;
  const all = known.toSorted(byId).map((row) => ({
    row,
    times: transitions(row.state, lifetimeMs),
    shown: null as Shown | null,
  }));

  const show = (row: Known): Shown => {
    return { ...shownFacts(row), fuel: shownFuel(row, now) };
  };

  const served = (): Shown[] => all.flatMap(({ shown }) => (shown === null ? [] : [shown]));

  return {
    /** Time goes on; what it changes is shown anew. */
    passTo(time: number): void {
      const before = now;
      now = time;
      for (const one of all) {
        if (one.row.removed) continue;
        if (one.shown === null || one.times.some((at) => at > before && at <= time))
          one.shown = show(one.row);
      }
    },
    one: (id: string): Shown | null => all.find(({ row }) => row.id === id)?.shown ?? null,
    everywhere: (wanted: Wanted): Shown[] =>
      served().filter((station) => passes(station, wanted, now)),
    /** Nearest first, ties by id; all of them. */
    within(place: Place, wanted: Wanted): Shown[] {
      const centre = centreOf(place);
      return served()
        .filter((station) => lies(station, place) && passes(station, wanted, now))
        .map((station) => ({ station, far: distanceM(centre, station) }))
        .sort((a, b) => a.far - b.far || byId(a.station, b.station))
        .map(({ station }) => station);
    },
    changed(sinceMs: number): { stations: Shown[]; removed: string[] } {
      const late = all.filter(({ row, times }) => {
        const passed = row.removed ? [] : times.filter((at) => at <= now);
        return Math.max(row.at, ...passed) >= sinceMs;
      });
      return {
        stations: late.flatMap(({ shown }) => (shown === null ? [] : [shown])),
        removed: late.filter(({ row }) => row.removed).map(({ row }) => row.id),
      };
    },
  };
}

function passes(station: Shown, wanted: Wanted, now: number): boolean {
  const { brand, name, addr, fuel, grades_sold = "", opening_hours = "" } = station;
  const { words, statuses, grades, queues, freshH } = wanted;
  const present = fuel.fuels_now.split(",");
  if (statuses.length > 0 && !statuses.includes(fuel.status)) return false;
  if (queues.length > 0 && !queues.includes(fuel.queue)) return false;
  if (!grades.every((grade) => present.includes(grade))) return false;
  if (wanted.brand !== "" && !isBrand(brand, wanted.brand)) return false;
  if (wanted.hasPrice && fuel.prices === undefined) return false;
  if (!wanted.sold.every((grade) => grades_sold.split(",").includes(grade))) return false;
  if (wanted.opened === true && isShut(station.closed, now)) return false;
  if (wanted.opened !== null && !isShut(station.closed, now))
    if (!isAsWanted(wanted.opened, opening_hours, now, station)) return false;
  if (wanted.chanceMin !== null && (fuel.chance ?? -1) < wanted.chanceMin) return false;
  if (freshH !== null) {
    if (fuel.status === "nodata") return false;
    if (now - (parseTime(fuel.updated) as number) > freshH * 3600_000) return false;
  }
  return words.every(
    (word) =>
      [name, brand, addr].some((text) => lower(text).includes(lower(word))) || isBrand(brand, word),
  );
}

function lies({ lat, lon }: Point, place: Place): boolean {
  if ("centre" in place) return distanceM(place.centre, { lat, lon }) <= place.radiusKm * 1000;
  const [south, west, north, east] = place.box;
  if (lat < south || lat > north) return false;
  return west <= east ? lon >= west && lon <= east : lon >= west || lon <= east;
}

function centreOf(place: Place): Point {
  if ("centre" in place) return place.centre;
  const [south, west, north, east] = place.box;
  const width = west <= east ? east - west : east + 360 - west;
  const lon = west + width / 2;
  return { lat: (south + north) / 2, lon: lon > 180 ? lon - 360 : lon };
}

export interface PlainCity {
  name: string;
  region: string;
  lat: number;
  lon: number;
  population: number;
}

/** Matching cities in their order: those that begin with it, then those that hold it, each by population. */
export function rankCities(
  cities: readonly PlainCity[],
  q: string,
): { rank: string; city: PlainCity }[] {
  const sought = lower(q);
  return cities
    .filter(({ name }) => lower(name).includes(sought))
    .map((city) => ({ city, begins: lower(city.name).startsWith(sought) }))
    .sort((a, b) => Number(b.begins) - Number(a.begins) || b.city.population - a.city.population)
    .map(({ city, begins }) => ({ city, rank: `${begins} ${city.population}` }));
}
