import type { Random } from "#demo/country/random.ts";
import { hourMs, minuteMs } from "#src/domain/units.ts";

/** A time in which a station had fuel, or had none: from `from` to before `until`, ms. */
export interface Spell {
  from: number;
  until: number;
  fuel: boolean;
}

/** By station: its spells, without gaps, over the whole time asked for. */
export type Truth = readonly (readonly Spell[])[];

/** Local time of all three cities, hours ahead of UTC. */
export const localHours = 5;

export const localHour = (at: number): number => Math.floor(at / hourMs + localHours) % 24;

/**
 * Deliveries per empty station and hour, by local hour. The series of real cities had
 * 0.05 to 0.06 from six to eight and hardly any at two.
 */
const refillsPerHour = [
  0.03, 0.015, 0.004, 0.004, 0.02, 0.045, 0.058, 0.06, 0.055, 0.052, 0.05, 0.05, 0.05, 0.05, 0.048,
  0.048, 0.046, 0.046, 0.044, 0.044, 0.042, 0.04, 0.038, 0.034,
] as const;

export const refillRate = (at: number): number => refillsPerHour[localHour(at)]!;

/**
 * Mixtures that give the real series' medians (`yes` 1.4 h, `no` 7.9 h among the spells that began and ended within
 * 50 h) together with its 1,556 changes at 506 stations in that time: most deliveries are gone within hours, some
 * stations are supplied for days; some stations without fuel get it back soon, most wait for the morning.
 */
const soonEmpty = { share: 0.82, meanMs: 1.8 * hourMs };
const longSuppliedMs = 44 * hourMs;
const soonRefilled = { share: 0.09, meanMs: 4 * hourMs };

/** A sudden shortage: this share of a city's stations that have fuel run out within the hour, and none gets more for six. */
export interface Shortage {
  at: number;
  stations: ReadonlySet<number>;
}

const shortage = { share: 0.8, withinMs: hourMs, lastsMs: 6 * hourMs };

/** How a country differs from the usual: how many times as often stations are refilled, and as long they have fuel. */
export interface Pace {
  refills: number;
  fuelLasts: number;
}

const exponential = (random: Random, mean: number): number => -Math.log(1 - random.next()) * mean;

/** What every station really had from `from` to `until`, ms. */
export function makeTruth(
  random: Random,
  count: number,
  from: number,
  until: number,
  sudden: Shortage | null = null,
  pace: Pace = { refills: 1, fuelLasts: 1 },
): Truth {
  return Array.from({ length: count }, (_, station) => {
    const spells = spellsOf(random, from, until, pace);
    // Drawn for each station, so that the others' numbers are the same without a shortage.
    const hit = random.chance(shortage.share);
    const delay = random.next() * shortage.withinMs;
    return sudden !== null && hit && sudden.stations.has(station)
      ? emptied(spells, sudden.at + delay, sudden.at + shortage.lastsMs)
      : spells;
  });
}

function spellsOf(random: Random, from: number, until: number, pace: Pace): Spell[] {
  const spells: Spell[] = [];
  let fuel = random.chance(0.3);
  // Starts early enough for a station's usual turns to have begun.
  for (let at = from - 72 * hourMs; at < until; fuel = !fuel) {
    const end = fuel
      ? at + supplyMs(random) * pace.fuelLasts
      : refillAfter(random, at, pace.refills);
    const spell = { from: Math.max(at, from), until: Math.min(end, until), fuel };
    if (spell.until > spell.from) spells.push(spell);
    at = end;
  }
  return spells;
}

const supplyMs = (random: Random): number =>
  minuteMs +
  exponential(random, random.chance(soonEmpty.share) ? soonEmpty.meanMs : longSuppliedMs);

/** The end of a time without fuel: soon, or when the hourly chance of a delivery comes true. */
function refillAfter(random: Random, at: number, refills: number): number {
  if (random.chance(soonRefilled.share)) return at + exponential(random, soonRefilled.meanMs);
  let left = exponential(random, 1);
  for (let hour = at; ;) {
    const end = (Math.floor(hour / hourMs) + 1) * hourMs;
    const passed = ((end - hour) / hourMs) * refillRate(hour) * refills;
    if (passed >= left) return hour + (left / refillRate(hour) / refills) * hourMs;
    left -= passed;
    hour = end;
  }
}

/** The same spells with a time without fuel in them. */
const emptied = (spells: readonly Spell[], from: number, until: number): Spell[] => {
  const rest = spells.flatMap((spell) => [
    { ...spell, until: Math.min(spell.until, from) },
    { ...spell, from: Math.max(spell.from, until) },
  ]);
  return joined([...rest, { from, until, fuel: false }].filter((one) => one.until > one.from));
};

function joined(spells: Spell[]): Spell[] {
  const inOrder = spells.toSorted((a, b) => a.from - b.from);
  const result: Spell[] = [];
  for (const spell of inOrder) {
    const before = result.at(-1);
    if (before?.fuel === spell.fuel) before.until = spell.until;
    else result.push({ ...spell });
  }
  return result;
}

/** Whether a station had fuel at `at`, ms. */
export const hadFuel = (truth: Truth, station: number, at: number): boolean =>
  spellAt(truth, station, at).fuel;

export function spellAt(truth: Truth, station: number, at: number): Spell {
  const spells = truth[station]!;
  const found = spells.find((spell) => at >= spell.from && at < spell.until) ?? spells.at(-1);
  if (found === undefined) throw new Error(`station ${station} has no truth`);
  return found;
}

export interface TruthFigures {
  yesMedianH: number;
  noMedianH: number;
  changes: number;
  fuelShare: number;
}

/** The figures by which this truth is like the real series, within `from` and `until`, ms. */
export function figuresOf(truth: Truth, from: number, until: number): TruthFigures {
  const whole = truth.flat().filter((spell) => spell.from > from && spell.until < until);
  const hours = (fuel: boolean): number[] =>
    whole
      .flatMap((spell) => (spell.fuel === fuel ? (spell.until - spell.from) / hourMs : []))
      .sort((a, b) => a - b);
  const median = (values: number[]): number => values[Math.floor(values.length / 2)] ?? NaN;
  const overlap = (spell: Spell): number =>
    Math.max(0, Math.min(spell.until, until) - Math.max(spell.from, from));
  const all = truth.flat();
  const fuelMs = all.reduce((sum, spell) => sum + (spell.fuel ? overlap(spell) : 0), 0);
  return {
    yesMedianH: median(hours(true)),
    noMedianH: median(hours(false)),
    changes: all.filter((spell) => spell.from > from && spell.from < until).length,
    fuelShare: fuelMs / (truth.length * (until - from)),
  };
}
