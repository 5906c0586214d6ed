import { makeMark, type DemoMark } from "#demo/country/marks.ts";
import type { Random } from "#demo/country/random.ts";
import { isNewcomer, type DemoReporter } from "#demo/country/reporters.ts";
import type { DemoStation } from "#demo/country/stations.ts";
import type { Status } from "#src/domain/words.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

type Kind = "silent" | "served" | "turned" | "doubted" | "remote" | "disputed" | "expired";

/** What happened at a day's stations: about 60 % end with a status, a few hundred with something open. */
const kinds: readonly (readonly [Kind, number])[] = [
  ["silent", 31],
  ["served", 43],
  ["turned", 14],
  ["doubted", 5],
  ["remote", 3],
  ["disputed", 0.6],
  ["expired", 3.4],
];

/** How short of fuel a city is, 0 to 1: neighbouring stations then look alike on the map. */
export type Shortage = readonly number[];

export const makeShortage = (random: Random, cities: number): Shortage =>
  Array.from({ length: cities }, () => random.next() ** 1.8);

/** The marks of one station's last day, told by reporters of its city. `now` in ms. */
export function tellStory(
  random: Random,
  station: DemoStation,
  reporters: readonly DemoReporter[],
  shortage: Shortage,
  now: number,
): DemoMark[] {
  const short = shortage[station.city] ?? 0;
  const kind = random.weighted(kinds);
  // Most of what people see is fresh.
  const ageMs =
    kind === "expired"
      ? random.between(25, 40) * hourMs
      : 23.5 * hourMs * random.next() ** 1.7 + 3 * minuteMs;
  const firstAt = now - ageMs;
  const drivers = shuffled(
    random,
    reporters.filter((one) => one.firstSeen < Math.min(firstAt, now - hourMs)),
  );
  let turn = 0;
  const say = (status: Status, at: number, remote = false): DemoMark => {
    const driver = drivers[turn++ % drivers.length] as DemoReporter;
    const newcomer = isNewcomer(driver.firstSeen, at, 24 * hourMs);
    // Alone on the road nobody is near enough to doubt a `no`.
    const nearbyMarks = !/^трасса/.test(station.addr) || turn > 1;
    const said = {
      status,
      at: Math.floor(Math.min(at, now - 1000)),
      remote,
      nearbyMarks,
      newcomer,
    };
    return makeMark(random, station, { ...said, reporterHash: driver.hash });
  };
  /** Enough voices for the status to be served, and perhaps more, each a little later. */
  const settled = (status: Status, from: number, until: number): DemoMark[] => {
    const voices =
      (status === "no" ? 2 : 1) +
      random.weighted([
        [0, 5],
        [1, 3],
        [2, 2],
        [3, 1],
      ]);
    return Array.from({ length: voices }, (_, index) =>
      say(status, from + ((until - from) * index) / (voices + 1)),
    );
  };
  switch (kind) {
    case "silent":
      return [];
    case "served":
    case "expired":
      return settled(
        statusFor(random, short),
        firstAt,
        firstAt + Math.min(ageMs * 0.5, 2 * hourMs),
      );
    case "turned": {
      const later = firstAt + ageMs * random.between(0.4, 0.8);
      const [before, after] = random.pick([
        ["yes", "low"],
        ["yes", "queue"],
        ["low", "no"],
        ["queue", "no"],
        ["no", "yes"],
        ["queue", "yes"],
      ] as const);
      return [...settled(before, firstAt, later), ...settled(after, later, now)];
    }
    case "doubted": {
      const doubtAt = firstAt + ageMs * random.between(0.5, 0.9);
      return [
        ...settled(random.pick(["yes", "queue", "low"]), firstAt, doubtAt),
        say("no", doubtAt),
      ];
    }
    case "remote":
      return [say(statusFor(random, short), firstAt, true)];
    case "disputed": {
      // Two against two, all within the hour and long enough to be seen.
      const ago = [28, 24, 12, 6].map(
        (minutes) => now - (minutes + random.between(0, 3)) * minuteMs,
      );
      const firm = shuffled(
        random,
        drivers.filter((one) => !one.grouped && !isNewcomer(one.firstSeen, now, 24 * hourMs)),
      );
      drivers.splice(0, drivers.length, ...firm);
      const has = random.pick(["yes", "low", "queue"] as const);
      return ago.map((at, index) => say(index < 2 ? has : "no", at));
    }
  }
}

export function statusFor(random: Random, short: number): Status {
  return random.weighted([
    ["yes", 1.3 - short],
    ["low", 0.15 + short * 0.4],
    ["queue", 0.1 + short * 0.55],
    ["no", 0.05 + short * 0.7],
  ]);
}

function shuffled<T>(random: Random, list: readonly T[]): T[] {
  return list
    .map((one) => [random.next(), one] as const)
    .sort(([a], [b]) => a - b)
    .map(([, one]) => one);
}
