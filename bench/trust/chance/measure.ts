import type { Random } from "#demo/country/random.ts";
import { type ChanceNumbers, shippedNumbers } from "#src/domain/chance/numbers.ts";
import { minuteMs } from "#src/domain/units.ts";
import type { Config } from "#src/infrastructure/config.ts";
import type { Case } from "#bench/trust/cases.ts";
import { heardOf } from "#bench/trust/chance/heard.ts";
import { createScore, type Tenth } from "#bench/trust/chance/score.ts";
import { createTrips, type Trips } from "#bench/trust/chance/trips.ts";
import { createWays, type Heard, type Way, ways } from "#bench/trust/chance/ways.ts";
import type { Country } from "#bench/trust/country.ts";
import type { Window } from "#bench/trust/measures.ts";
import { partnerLimitsOf } from "#bench/trust/row.ts";
import { simulate } from "#bench/trust/simulate.ts";
import { together } from "#bench/trust/traffic.ts";
import { hadFuel, type Truth } from "#bench/trust/truth.ts";
import { makeWorld, type Size } from "#bench/trust/world.ts";

/** One case with one seed, measured. */
export interface ChanceRow {
  brier: Record<Way, number>;
  calibration: Record<Way, number>;
  /** Of the model. */
  tenths: readonly Tenth[];
  trips: Trips;
}

/** A simulation with what was true in it. */
export interface Played extends Heard {
  country: Country;
  truth: Truth;
  window: Window;
  random: Random;
}

/** All stations are looked at once in so long, at a random moment, and drivers set out then. */
const lookEveryMs = 10 * minuteMs;
const driversALook = 12;

/** Sends a case's traffic through the product's rules. */
export function play(seed: number, size: Size, config: Config, one: Case): Played {
  const world = makeWorld(seed, one.honest, size);
  const { country, truth, from, until } = world.scene;
  const attack = one.attack?.({ ...world.scene, random: world.attackRandom() });
  const traffic = attack === undefined ? world.honest : together(world.honest, attack.traffic);
  const run = simulate(country, config, traffic, until, partnerLimitsOf(one.honest));
  return {
    country,
    truth,
    window: { from, until },
    random: world.lookRandom(),
    sent: traffic.marks,
    counted: heardOf(run.answered, traffic.known),
    timelines: run.timelines,
  };
}

/** What the ways of believing are worth; only the model is given `numbers`. */
export function measureChance(
  played: Played,
  numbers: ChanceNumbers = shippedNumbers,
  everyMs = lookEveryMs,
): ChanceRow {
  const { country, truth, window, random } = played;
  const read = createWays(country, played, numbers);
  const trips = createTrips(country, truth, random);
  const scores = {
    published: createScore(),
    last: createScore(),
    decay: createScore(),
    chance: createScore(),
  };
  for (let slot = window.from; slot < window.until; slot += everyMs) {
    const at = Math.floor(slot + random.next() * everyMs);
    const said = read.at(at);
    country.stations.forEach((_, station) => {
      if (!read.isKnown(station)) return;
      const fuel = hadFuel(truth, station, at);
      for (const way of ways) scores[way].note(said[way][station]!, fuel);
    });
    for (let driver = 0; driver < driversALook; driver += 1) trips.drive(at, said);
  }
  const each = (of: (score: ReturnType<typeof createScore>) => number): Record<Way, number> => ({
    published: of(scores.published),
    last: of(scores.last),
    decay: of(scores.decay),
    chance: of(scores.chance),
  });
  return {
    brier: each((score) => score.brier()),
    calibration: each((score) => score.calibration()),
    tenths: scores.chance.tenths,
    trips: trips.result(),
  };
}
