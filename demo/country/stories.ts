import { makeMark, type DemoMark } from "#demo/country/marks.ts";
import type { Random } from "#demo/country/random.ts";
import { isNewcomer, type DemoReporter } from "#demo/country/reporters.ts";
import type { DemoStation } from "#demo/country/stations.ts";
import type { Status } from "#src/domain/vocabulary.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** What a story is told with: one station, and drivers who pass by in turn. */
interface Teller {
  random: Random;
  now: number;
  /** When the story began, ms. */
  from: number;
  /** What a station of this city is likely to have. */
  likely: () => Status;
  say: (status: Status, at: number, how?: "remote") => DemoMark;
  /** Enough voices for the status to be served, and perhaps more, each a little later. */
  settle: (status: Status, from: number, until: number) => DemoMark[];
}

type Plot = (teller: Teller) => DemoMark[];

const served: Plot = ({ likely, settle, from, now }) =>
  settle(likely(), from, from + Math.min((now - from) * 0.5, 2 * hourMs));

const turned: Plot = ({ random, settle, from, now }) => {
  const later = from + (now - from) * random.between(0.4, 0.8);
  const [before, after] = random.pick(turns);
  return [...settle(before, from, later), ...settle(after, later, now)];
};

const turns = [
  ["yes", "low"],
  ["yes", "queue"],
  ["low", "no"],
  ["queue", "no"],
  ["no", "yes"],
  ["queue", "yes"],
] as const;

const doubted: Plot = ({ random, say, settle, from, now }) => {
  const doubtAt = from + (now - from) * random.between(0.5, 0.9);
  return [...settle(random.pick(["yes", "queue", "low"]), from, doubtAt), say("no", doubtAt)];
};

/** Two against two, all within the hour, for half an hour to come (decisions 2). */
const disputed: Plot = ({ random, say, now }) => {
  const has = random.pick(["yes", "low", "queue"] as const);
  return [28, 24, 12, 6].map((minutes, index) =>
    say(index < 2 ? has : "no", now - (minutes + random.between(0, 3)) * minuteMs),
  );
};

/** Plots by weight: about 60 % of the stations end with a status, a few hundred with something open. */
const plots: readonly (readonly [Plot, number])[] = [
  [() => [], 31],
  [served, 46.4],
  [turned, 14],
  [doubted, 5],
  [({ likely, say, from }) => [say(likely(), from, "remote")], 3],
  [disputed, 0.6],
];

/** How short of fuel each city is, 0 to 1: neighbouring stations then look alike on the map. */
export const makeShortage = (random: Random, cities: number): number[] =>
  Array.from({ length: cities }, () => random.next() ** 1.8);

/** The marks of one station's last day (a few: of the day before), told by reporters of its city. `now` in ms. */
export function tellStory(
  random: Random,
  station: DemoStation,
  reporters: readonly DemoReporter[],
  short: number,
  now: number,
): DemoMark[] {
  const plot = random.weighted(plots);
  const old = plot === served && random.chance(0.07);
  // Most of what people see is fresh.
  const age = old ? random.between(25, 40) : 0.05 + 23.5 * random.next() ** 1.7;
  const from = now - age * hourMs;
  const present = reporters.filter((one) => one.firstSeen < Math.min(from, now - hourMs));
  const firm = present.filter(({ grouped, firstSeen }) => !grouped && !isNewcomer(firstSeen, now));
  const drivers = shuffled(random, plot === disputed ? firm : present);
  let turn = 0;
  const say: Teller["say"] = (status, at, how) => {
    const driver = drivers[turn % drivers.length];
    if (driver === undefined) throw new Error("every city has reporters of long standing");
    turn += 1;
    // Alone on the road nobody is near enough to doubt a `no`.
    const nearbyMarks = !station.addr.startsWith("трасса") || turn > 1;
    return makeMark(random, station, {
      status,
      at: Math.floor(Math.min(at, now - 1000)),
      remote: how === "remote",
      nearbyMarks,
      newcomer: isNewcomer(driver.firstSeen, at),
      reporterHash: driver.hash,
    });
  };
  const settle: Teller["settle"] = (status, start, until) => {
    const voices = (status === "no" ? 2 : 1) + random.weighted(furtherVoices);
    return Array.from({ length: voices }, (_, index) =>
      say(status, start + ((until - start) * index) / (voices + 1)),
    );
  };
  return plot({ random, now, from, likely: () => statusFor(random, short), say, settle });
}

const furtherVoices = [
  [0, 5],
  [1, 3],
  [2, 2],
  [3, 1],
] as const;

/** A status by chance, the worse the shorter of fuel (0 to 1) the place is. */
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
