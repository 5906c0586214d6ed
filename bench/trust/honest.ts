import type { Random } from "#demo/country/random.ts";
import { hourMs, minuteMs } from "#src/domain/units.ts";
import type { Grade, Status } from "#src/domain/vocabulary.ts";
import type { Country, Station } from "#bench/trust/country.ts";
import { createCrowd, type Channel } from "#bench/trust/crowd.ts";
import { atPumps, type SentMark, type Traffic } from "#bench/trust/traffic.ts";
import { hadFuel, localHour, type Truth } from "#bench/trust/truth.ts";

/** How much honest people tell, and how well. */
export interface Telling {
  /** How many report a change, from and to. */
  reporters: readonly [number, number];
  /** Marks beyond the changes, for a station and hour. */
  furtherPerHour: number;
  errorShare: number;
}

/** Figures of a replay of real series: three cities, 506 stations, 49.6 hours. */
export const usualTelling: Telling = { reporters: [1, 3], furtherPerHour: 0.15, errorShare: 0.04 };
const firstDelayMs = 8 * minuteMs;
const furtherDelayMs = 35 * minuteMs;
const newcomerShare = 0.3;
const withoutPosition = 0.15;

/** Marks beyond the changes by local hour, 1 on the average: hardly any at night, peaks on the way to work and home. */
const activity = [
  0.25, 0.15, 0.1, 0.1, 0.2, 0.5, 1.1, 1.8, 1.9, 1.4, 1.2, 1.1, 1.1, 1.1, 1.1, 1.2, 1.4, 1.8, 1.9,
  1.6, 1.2, 0.8, 0.6, 0.4,
] as const;

const activityMost = Math.max(...activity);

export interface HonestOptions {
  /** ms; nobody reports before or after. */
  from: number;
  until: number;
  channel: Channel;
  telling: Telling;
  /**
   * Errors say fuel where there is none, and never the other way. The replay that the goals come from must have been
   * like that: its last-mark-wins had 1.2 % false `no`, which errors both ways alone would exceed.
   */
  mistakenYesOnly: boolean;
}

/**
 * What honest drivers send: in the usual way of telling each change is reported by one to three of them, the first 8 minutes after it in the mean,
 * the others 35; and 0.15 further marks per station and hour. Each says what is so at that moment, one in 25 mistaken.
 */
export function honestTraffic(
  random: Random,
  country: Country,
  truth: Truth,
  options: HonestOptions,
): Traffic {
  const { from, channel, telling, mistakenYesOnly } = options;
  const crowd = createCrowd(random, country, channel, from);
  const visits = country.stations
    .flatMap((_, station) => visitsTo(random, truth, station, options))
    .sort((a, b) => a.at - b.at);
  const marks = visits.map(({ at, station }): SentMark => {
    const place = country.stations[station]!;
    const fuel = hadFuel(truth, station, at);
    const wrong = random.chance(telling.errorShare) && !(fuel && mistakenYesOnly);
    return {
      at,
      station,
      ...statement(random, place, fuel !== wrong),
      reporter: crowd.someone(place.city, at, random.chance(newcomerShare)),
      position: random.chance(withoutPosition) ? null : atPumps(random, place),
      honest: true,
    };
  });
  return { marks, known: crowd.known() };
}

/** When honest people report from a station. */
function visitsTo(
  random: Random,
  truth: Truth,
  station: number,
  { from, until, telling: { reporters, furtherPerHour } }: HonestOptions,
): { at: number; station: number }[] {
  const delay = (meanMs: number): number => -Math.log(1 - random.next()) * meanMs;
  const times = truth[station]!.flatMap((spell) =>
    Array.from(
      { length: random.int(...reporters) },
      (_, n) => spell.from + delay(n === 0 ? firstDelayMs : furtherDelayMs),
    ),
  );
  // Thinned by the hour's activity.
  const rate = furtherPerHour * activityMost;
  for (let at = from + delay(hourMs / rate); at < until; at += delay(hourMs / rate))
    if (random.chance(activity[localHour(at)]! / activityMost)) times.push(at);
  return times
    .filter((at) => at >= from && at < until)
    .map((at) => ({ at: Math.floor(at), station }));
}

/** Usual prices of a litre; honest people round and mistype little. */
const usualPrice: Readonly<Record<Grade, number>> = {
  92: 58,
  95: 63,
  98: 78,
  100: 84,
  ДТ: 72,
};

/** One in three who found fuel also says which grades, one in ten what it costs. */
function statement(
  random: Random,
  station: Station,
  fuel: boolean,
): Pick<SentMark, "status" | "fuels" | "prices"> {
  if (!fuel) return { status: "no" };
  const status = random.weighted<Status>([
    ["yes", 75],
    ["queue", 15],
    ["low", 10],
  ]);
  const fuels = random.chance(0.33) ? { fuels: station.grades } : {};
  const grade = random.pick(station.grades);
  const price = Math.round(usualPrice[grade] * random.between(0.96, 1.05) * 100) / 100;
  return { status, ...fuels, ...(random.chance(0.1) ? { prices: { [grade]: price } } : {}) };
}
