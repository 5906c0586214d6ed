import { queues } from "#src/domain/vocabulary.ts";
import { type Grade, type Says, type Status } from "#test/oracle/story.ts";

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
export function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** What one user of the test country sends, in the words of docs/contract.md 2.7 and in the oracle's. */
export interface Drawn {
  user: number;
  station: number;
  /** which of the partner's keys it goes through; null: the widget */
  key: number | null;
  /** address of the widget's viewer, with its network (decisions 1.8); null for a partner's mark */
  viewer: { address: string; network: string } | null;
  status: Status;
  says: Says;
  /** minutes before it is sent that the user marked; null: delivered at once */
  lateMin: number | null;
  lat: number | null;
  lon: number | null;
  accM: number | null;
  externalId: string | null;
  express: boolean;
}

interface Bounds {
  users: number;
  /** busy stations; behind them lie `quietGroups` groups of three, far from each other */
  stations: number;
  quietGroups: number;
  keys: readonly number[];
  /** drivers with the widget, not a partner's users */
  widget: boolean;
  placeOf: (station: number) => { lat: number; lon: number };
}

const grades: readonly Grade[] = ["92", "95", "98", "100", "ДТ"];

/** Stations up to the last that can be drawn. */
export const stationsIn = (bounds: Pick<Bounds, "stations" | "quietGroups">): number[] => [
  ...Array.from({ length: bounds.stations }, (_, n) => n),
  ...Array.from({ length: bounds.quietGroups }, (_, group) => group).flatMap((group) =>
    [0, 1, 2].map((one) => quietStation(bounds.stations, group, one)),
  ),
];

const quietStation = (busy: number, group: number, one: number): number =>
  busy + 20 * (group + 1) + one;

/** A fifth of the users keep to one quiet group each, where marks are few and half of them hours apart. */
const isQuiet = (user: number): boolean => user % 5 === 4;

/** A mark drawn by chance: users keep to six stations each, so that they change their minds there. */
export function draw(chance: () => number, n: number, bounds: Bounds): Drawn {
  const upTo = (limit: number): number => Math.floor(chance() * limit);
  const pick = <T>(list: readonly T[]): T => list[upTo(list.length)]!;
  const user = upTo(bounds.users);
  const quiet = isQuiet(user);
  const group = Math.floor(user / 5) % bounds.quietGroups;
  const station = quiet
    ? quietStation(bounds.stations, group, upTo(3))
    : (user * 7 + upTo(6) * 11) % bounds.stations;
  const at = bounds.placeOf(station);
  const where = pick([
    { lat: at.lat, lon: at.lon, accM: null },
    { lat: at.lat, lon: at.lon, accM: 20 },
    { lat: at.lat + 0.003, lon: at.lon, accM: null },
    { lat: at.lat + 0.006, lon: at.lon, accM: 300 },
    { lat: at.lat + 0.2, lon: at.lon, accM: 5 },
    { lat: at.lat, lon: at.lon, accM: 1500 },
    { lat: null, lon: null, accM: null },
  ]);
  return {
    user,
    station,
    key: bounds.widget ? null : pick(bounds.keys),
    viewer: bounds.widget ? viewerOf(user, chance() < 0.9 ? user % 8 : upTo(8), upTo(9)) : null,
    status: pick(statusesAt(station)),
    says: drawSays(chance),
    lateMin: quiet
      ? pick([null, upTo(110), 100 + upTo(40), 121 + upTo(200), 121 + upTo(400)])
      : pick([null, null, upTo(60), upTo(300), upTo(25 * 60), 24 * 60 + 5]),
    ...where,
    externalId: !bounds.widget && chance() < 0.7 ? `mark ${n}` : null,
    express: chance() < 0.1,
  };
}

/** Every other station is out of fuel for most, so that `no` is served and confirmed there; every fourth is disputed. */
function statusesAt(station: number): readonly Status[] {
  if (station % 2 === 0) return ["no", "no", "no", "no", "yes", "low"];
  return station % 4 === 1 ? ["yes", "no"] : ["yes", "low", "no", "queue"];
}

/** A viewer of network `n`: IPv4 address, or one of the many of an IPv6 /64. */
function viewerOf(user: number, n: number, host: number): { address: string; network: string } {
  const address = n % 2 === 0 ? `10.1.0.${n}` : `2001:db8:0:${n}::${user}:${host + 1}`;
  return { address, network: n % 2 === 0 ? address : `2001:db8:0:${n}` };
}

function drawSays(chance: () => number): Says {
  const one = <T>(list: readonly T[]): T => list[Math.floor(chance() * list.length)]!;
  if (chance() < 0.5) return {};
  const there = grades.filter(() => chance() < 0.3);
  const gone = grades.filter((grade) => !there.includes(grade) && chance() < 0.3);
  // Few prices, so that two often say the same; the last ones are far from the others, and each is near its neighbour.
  const prices = there.map((grade) => [grade, one([49.9, 52.35, 58, 61.07, 88, 91.5, 95])]);
  return {
    ...(there.length > 0 ? { fuels: there } : {}),
    ...(gone.length > 0 ? { fuelsNo: gone } : {}),
    ...(chance() < 0.4 ? { queue: one(queues) } : {}),
    ...(chance() < 0.4 && prices.length > 0
      ? { prices: Object.fromEntries(prices) as Partial<Record<Grade, number>> }
      : {}),
    ...(chance() < 0.4 ? { limitL: one([null, 10, 20, 40]) } : {}),
    ...(chance() < 0.3 ? { noCash: chance() < 0.5 } : {}),
    ...(chance() < 0.3 ? { fuelCardsOnly: chance() < 0.5 } : {}),
  };
}

/** The body of docs/contract.md 2.7 that says it; `observedAt` as sent. */
export function bodyOf(drawn: Drawn, observedAt: string | null): Record<string, unknown> {
  const { says } = drawn;
  return {
    status: drawn.status,
    lat: drawn.lat,
    lon: drawn.lon,
    acc_m: drawn.accM,
    fuels: says.fuels ?? null,
    fuels_no: says.fuelsNo ?? null,
    queue: says.queue ?? null,
    prices: says.prices ?? null,
    no_cash: says.noCash ?? null,
    fuel_cards_only: says.fuelCardsOnly ?? null,
    express: drawn.express,
    ...(says.limitL === undefined ? {} : { limit_l: says.limitL }),
    ...(drawn.externalId === null ? {} : { external_id: drawn.externalId }),
    ...(observedAt === null ? {} : { observed_at: observedAt }),
  };
}
