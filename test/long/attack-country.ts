import { formatTime } from "#src/domain/time.ts";
import { hourMs } from "#src/domain/units.ts";
import type { Grade, ServedStatus, Status } from "#src/domain/vocabulary.ts";
import type { Layout } from "#test/flow/country.ts";

/** Cities one degree of latitude apart. Before an attack, these shares of their stations serve `yes` and `no`. */
export interface Ground {
  cities: number;
  stationsOfCity: number;
  yes: number;
  no: number;
}

/** What a mark says. */
export interface Said {
  status: Status;
  fuels?: readonly Grade[];
  fuels_no?: readonly Grade[];
  prices?: Readonly<Record<string, number>>;
  limit_l?: number;
  no_cash?: boolean;
  fuel_cards_only?: boolean;
  observed_at?: string;
}

/** A mark to be sent: by a partner's user, or by a device of the map at an address; with a position at the station or none. */
export interface Sent {
  station: number;
  who: string;
  /** Null for a partner's user. */
  address: string | null;
  atStation: boolean;
  said: Said;
}

/** What is sent at once: a batch of a partner, or one mark through the map. */
export type Request = readonly Sent[];

/** Stations of a block lie within 2 km of each other: one person may have been at all of them. */
export const blockSize = 6;
const blocksInRow = 6;
/** 700 m: no mark is near another's station. */
const apartDegrees = 0.0063;
const firstLat = 45;

export const layoutOf = ({ cities, stationsOfCity }: Ground): Layout => ({
  cities: Array.from({ length: cities }, (_, n) => ({
    ...{ name: `City ${n}`, lat: firstLat + n + 0.035, lon: 37.08 },
  })),
  placeOf: (n) => {
    const here = n % stationsOfCity;
    const [block, inBlock] = [Math.floor(here / blockSize), here % blockSize];
    const row = 2 * Math.floor(block / blocksInRow) + Math.floor(inBlock / 3);
    const column = 3 * (block % blocksInRow) + (inBlock % 3);
    const lat = firstLat + Math.floor(n / stationsOfCity) + row * apartDegrees;
    const lon = 37 + (column * apartDegrees) / Math.cos((lat * Math.PI) / 180);
    return { id: `n${1000 + n}`, lat, lon };
  },
});

/** What station `n` serves before an attack. */
export function servedBefore({ stationsOfCity, yes, no }: Ground, n: number): ServedStatus {
  // 7 and 20 have no common factor: every twenty stations have each place once.
  const place = (((n % stationsOfCity) * 7) % 20) / 20;
  if (place < yes) return "yes";
  return place < yes + no ? "no" : "nodata";
}

/** The numbers of the stations that serve this, of one city or of all. */
export const serving = (ground: Ground, status: ServedStatus, city?: number): number[] =>
  Array.from({ length: ground.cities * ground.stationsOfCity }, (_, n) => n).filter(
    (n) =>
      servedBefore(ground, n) === status &&
      (city === undefined || Math.floor(n / ground.stationsOfCity) === city),
  );

/** Who made the base statuses: one person for each block, known for more than a week. */
const residentOf = ({ stationsOfCity }: Ground, n: number): string =>
  `resident-${Math.floor(n / stationsOfCity)}-${Math.floor((n % stationsOfCity) / blockSize)}`;

/** Three hours before `now`, ms, known people said what is served: with grades and a price where there is fuel. */
export function baseMarks(ground: Ground, now: number): Sent[] {
  const observed_at = formatTime(now - 3 * hourMs);
  return [...serving(ground, "yes"), ...serving(ground, "no")].map((station) => ({
    ...{ station, who: residentOf(ground, station), address: null, atStation: true },
    said:
      servedBefore(ground, station) === "yes"
        ? { status: "yes", fuels: ["92", "95"], prices: { 95: 60 }, observed_at }
        : { status: "no", observed_at },
  }));
}

/** Somebody honest: when first seen, null for somebody new. */
export interface Honest {
  mark: Sent;
  daysKnown: number | null;
}

/**
 * Honest marks beside an attack, each by a person and at a station of its own: three of five in the attacked city 0.
 * Half come through the partner's key and half from the map, there also from the addresses of the attacker. Six of ten
 * people are known for more than a week and report changes; one is known for three days, three are new. Every seventh
 * has no position and repeats what is served.
 */
export function honestBeside(ground: Ground, count: number): Honest[] {
  const used = new Set<number>();
  const take = (city: number, wanted: readonly ServedStatus[]): number => {
    const found = wanted
      .flatMap((status) => serving(ground, status, city).sort((a, b) => spread(a) - spread(b)))
      .find((n) => !used.has(n));
    if (found === undefined) throw new Error(`city ${city} has too few stations`);
    used.add(found);
    return found;
  };
  // 11 is no factor of any city's size: who comes first is anywhere in the city.
  const spread = (n: number): number => (n * 11) % ground.stationsOfCity;
  return Array.from({ length: count }, (_, n) => {
    const [isNew, isFar] = [n % 10 >= 6, n % 7 === 6];
    const city = n % 5 < 3 ? 0 : 1 + (n % (ground.cities - 1));
    const station = take(city, wantedBy(n, isNew, isFar));
    const status = sayingAt(servedBefore(ground, station), n, isNew || isFar);
    return {
      mark: {
        ...{ station, who: `honest-${n}`, said: { status }, atStation: !isFar },
        address: n % 2 === 0 ? null : addressOf(n % 40),
      },
      daysKnown: isNew ? (n % 10 === 6 ? 3 : null) : 8 + n / 10,
    };
  });
}

/** Statuses of stations to which somebody goes, the preferred one first. */
function wantedBy(n: number, isNew: boolean, isFar: boolean): readonly ServedStatus[] {
  if (isFar) return ["yes", "no", "nodata"];
  if (isNew) return n % 3 === 0 ? ["nodata", "yes", "no"] : ["yes", "nodata", "no"];
  return n % 3 === 1 ? ["no", "yes", "nodata"] : ["yes", "nodata", "no"];
}

function sayingAt(before: ServedStatus, n: number, repeats: boolean): Status {
  if (before === "nodata") return n % 4 < 2 ? "no" : "yes";
  if (repeats) return before;
  if (before === "no") return "yes";
  return n % 3 === 0 ? "no" : "yes";
}

/** An address of the map's viewers; attackers use the first ones. */
export const addressOf = (n: number): string => `10.77.${n}.1`;
