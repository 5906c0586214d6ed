import { type Belief, kinds, stages, states } from "#src/domain/chance/belief.ts";
import type { HeardMark } from "#src/domain/chance/chances.ts";
import { explained, heard } from "#src/domain/chance/evidence.ts";
import { exponential, type Matrix } from "#src/domain/chance/matrix.ts";
import type { ChanceNumbers } from "#src/domain/chance/numbers.ts";
import {
  createPassage,
  hourOf,
  hoursADay,
  othersOf,
  ratesOf,
  turnsOf,
} from "#src/domain/chance/passage.ts";
import { oddsOf } from "#src/domain/chance/shares.ts";
import { dayMs, hourMs, minuteMs } from "#src/domain/units.ts";

/** The numbers that an instance learns: how long stations have fuel and have none. */
export type Rates = Pick<ChanceNumbers, "fuel" | "none">;

/** Rates by name: shares, means in hours, and refills an hour by hour of the day (`refills-06`). */
export const namedRates = ({ fuel, none }: Rates): Record<string, number> => ({
  "fuel-soon-share": fuel.soonShare,
  "fuel-soon-hours": fuel.soonMeanMs / hourMs,
  "fuel-lasts-hours": fuel.lastsMeanMs / hourMs,
  "none-soon-share": none.soonShare,
  "none-soon-hours": none.soonMeanMs / hourMs,
  ...Object.fromEntries(
    none.refillsPerHour.map((rate, hour) => [`refills-${String(hour).padStart(2, "0")}`, rate]),
  ),
});

/** Of a station: its marks in order, and the local minute up to which no more have come. */
export interface HeardStation {
  marks: readonly HeardMark[];
  until: number;
}

/** A learnt rate is between a quarter of the shipped one and four times it, and a share's odds too. */
const learntWithin = 4;
/** In one night a rate moves by so much at most: lies of a day or two change little, and those of weeks are known. */
const nightlyWithin = 1.15;
/** Nearer to the shipped number than by this factor is the shipped one: so far the model may take honest marks wrong. */
const doubt = 1.15;
/** Honest traffic of the bench is believed to lie in 0.03 of its marks, attackers' in 0.05 to 0.07. */
const suspectShare = 0.05;
/** So many changes that were not seen speak for the shipped number; of an hour's refills for that of the day. */
const prior = 200;
const hourPrior = 150;
const rounds = 6;

const stepMin = 5;
const stepH = (stepMin * minuteMs) / hourMs;
/** After so long a silence a station begins anew. */
const silentSteps = (2 * dayMs) / minuteMs / stepMin;
const hourOfStep = (step: number): number => hourOf(step * stepMin);

/**
 * The rates of change that explain the marks of these stations best, shrunk to `numbers`: expectation maximisation over
 * the model's own states, so that a change which nobody told of counts as well. What each mark is worth stays as it was
 * heard. Yields after each look at a station, because there may be many.
 */
export function* learnRates(
  numbers: ChanceNumbers,
  stations: readonly HeardStation[],
): Generator<void, { rates: Rates; changes: number }> {
  let rates: Rates = numbers;
  let changes = 0;
  for (let round = 0; round < rounds; round += 1) {
    const turns = createTurns({ ...numbers, ...rates });
    for (const station of stations) {
      turns.count(station);
      yield;
    }
    rates = shrunk(numbers, turns);
    changes = turns.begins.reduce((sum, one) => sum + one);
  }
  return { rates: withoutDoubt(numbers, rates), changes };
}

/** A belief, or how well each state explains what comes: many are made. */
type Row = Float64Array;

function forward(from: Row, matrix: Matrix): Row {
  const to = new Float64Array(states);
  for (let row = 0; row < states; row += 1) {
    const weight = from[row]!;
    for (let state = 0; state < states; state += 1)
      to[state]! += weight * matrix[row * states + state]!;
  }
  return to;
}

function back(later: Row, matrix: Matrix): Row {
  const from = new Float64Array(states);
  for (let row = 0; row < states; row += 1) {
    let sum = 0;
    for (let state = 0; state < states; state += 1)
      sum += matrix[row * states + state]! * later[state]!;
    from[row] = sum;
  }
  return from;
}

/** In place. */
function normalRow(row: Row): Row {
  let sum = 0;
  for (let state = 0; state < states; state += 1) sum += row[state]!;
  for (let state = 0; state < states; state += 1) row[state]! /= sum;
  return row;
}

/** Expected times and changes of stations, under these numbers. */
function createTurns(numbers: ChanceNumbers) {
  const { prior: usual } = createPassage(numbers);
  const hours = Array.from({ length: hoursADay }, (_, hour) => ({
    ...turnsOf(numbers, hour),
    step: exponential(ratesOf(numbers, hour, "silent").map((rate) => rate * stepH)),
  }));
  /** By kind and hour of the day: hours in it, and ends of it; by kind: beginnings of it. */
  const perHour = (): Row[] => Array.from({ length: kinds }, () => new Float64Array(hoursADay));
  const [spent, ends] = [perHour(), perHour()];
  const begins: Row = new Float64Array(kinds);

  /** Half a step at one of its ends: `from` what was before it, `to` how well each state explains what came after. */
  const note = (hour: number, from: Row, to: Row): void => {
    let all = 0;
    for (let state = 0; state < states; state += 1) all += from[state]! * to[state]!;
    const share = stepH / 2 / all;
    const { ends: rates, begins: shares } = hours[hour]!;
    for (let kind = 0; kind < kinds; kind += 1) {
      let weight = 0;
      for (let state = stages * kind; state < stages * (kind + 1); state += 1) {
        spent[kind]![hour]! += share * from[state]! * to[state]!;
        weight += share * from[state]!;
      }
      for (const other of othersOf(kind)) {
        const changes = weight * rates[kind]! * shares[other]! * to[stages * other]!;
        ends[kind]![hour]! += changes;
        begins[other]! += changes;
      }
    }
  };

  /** Forward through the steps from the first mark, and back. */
  const countPart = (marks: ReadonlyMap<number, HeardMark[]>, first: number, last: number) => {
    const hear = (belief: Row, step: number): Row => {
      const told = marks.get(step);
      if (told === undefined) return belief.slice();
      return Float64Array.from(
        told.reduce((now: Belief, { evidence }) => heard(now, evidence), [...belief]),
      );
    };
    const beliefs = [normalRow(hear(Float64Array.from(usual(first * stepMin)), first))];
    const ends: Row[] = [];
    for (let step = first; step < last; step += 1) {
      const end = forward(beliefs.at(-1)!, hours[hourOfStep(step)]!.step);
      ends.push(end);
      beliefs.push(normalRow(hear(end, step + 1)));
    }
    let later: Row = new Float64Array(states).fill(1);
    for (let step = last - 1; step >= first; step -= 1) {
      const hour = hourOfStep(step);
      const told = marks.get(step + 1);
      if (told !== undefined)
        later = Float64Array.from(
          told.reduceRight((after: Belief, { evidence }) => explained(after, evidence), [...later]),
        );
      note(hour, ends[step - first]!, later);
      later = back(later, hours[hour]!.step);
      note(hour, beliefs[step - first]!, later);
      later = normalRow(later);
    }
  };

  return {
    ...{ spent, ends, begins },
    count({ marks, until }: HeardStation): void {
      const steps = new Map<number, HeardMark[]>();
      for (const mark of marks) {
        const step = Math.floor(mark.minute / stepMin);
        steps.set(step, [...(steps.get(step) ?? []), mark]);
      }
      const at = [...steps.keys()];
      for (let n = 0; n < at.length;) {
        const first = at[n]!;
        while (n + 1 < at.length && at[n + 1]! - at[n]! < silentSteps) n += 1;
        const last = Math.min(at[n]! + silentSteps, Math.floor(until / stepMin));
        countPart(steps, first, Math.max(at[n]!, last));
        n += 1;
      }
    },
  };
}

/** `to`, as far as a night's step from `from` allows. */
export const stepTowards = (from: Rates, to: Rates): Rates =>
  combined(from, to, (before, wanted) => within(wanted, before, nightlyWithin));

/** True if no rate differs by more than a fiftieth: other rates begin all beliefs anew. */
export function isNear(one: Rates, other: Rates): boolean {
  let far = 0;
  combined(one, other, (a, b) => {
    far = Math.max(far, Math.abs(Math.log(a / b)));
    return a;
  });
  return far < Math.log(1.02);
}

/** True if more of the marks are taken for lies than honest people's are: rates would be learnt of the lies. */
export const areSuspect = (marks: readonly HeardMark[]): boolean =>
  marks.reduce((sum, { share }) => sum + share, 0) > suspectShare * marks.length;

const withoutDoubt = (numbers: Rates, seen: Rates): Rates =>
  combined(numbers, seen, (shipped, rate) =>
    rate > shipped ? Math.max(shipped, rate / doubt) : Math.min(shipped, rate * doubt),
  );

/** Each rate made of two, a share by its odds. */
function combined(one: Rates, other: Rates, by: (one: number, other: number) => number): Rates {
  const share = (a: number, b: number): number => shareOf(by(oddsOf(a), oddsOf(b)));
  return {
    fuel: {
      soonShare: share(one.fuel.soonShare, other.fuel.soonShare),
      soonMeanMs: by(one.fuel.soonMeanMs, other.fuel.soonMeanMs),
      lastsMeanMs: by(one.fuel.lastsMeanMs, other.fuel.lastsMeanMs),
    },
    none: {
      soonShare: share(one.none.soonShare, other.none.soonShare),
      soonMeanMs: by(one.none.soonMeanMs, other.none.soonMeanMs),
      refillsPerHour: one.none.refillsPerHour.map((rate, hour) =>
        by(rate, other.none.refillsPerHour[hour]!),
      ),
    },
  };
}

/** The rates that these turns speak for, drawn to the shipped ones and within bounds. */
function shrunk(
  numbers: ChanceNumbers,
  { spent, ends, begins }: ReturnType<typeof createTurns>,
): Rates {
  const { fuel, none } = numbers;
  const sum = (list: Row): number => list.reduce((all, one) => all + one, 0);
  const meanMs = (kind: number, shippedMs: number): number =>
    within(
      (shippedMs * prior + hourMs * sum(spent[kind]!)) / (prior + sum(ends[kind]!)),
      shippedMs,
    );
  const share = (kind: number, shipped: number): number => {
    const odds = (begins[kind]! + prior * shipped) / (begins[kind + 1]! + prior * (1 - shipped));
    return shareOf(within(odds, oddsOf(shipped)));
  };
  const due = sum(spent[1]!.map((hours, hour) => hours * none.refillsPerHour[hour]!));
  const factor = (prior + sum(ends[1]!)) / (prior + due);
  const refills = none.refillsPerHour.map((shipped, hour) => {
    const usual = factor * shipped;
    const seen = (hourPrior + ends[1]![hour]!) / (hourPrior / usual + spent[1]![hour]!);
    return within(seen, shipped);
  });
  return {
    fuel: {
      soonShare: share(2, fuel.soonShare),
      soonMeanMs: meanMs(2, fuel.soonMeanMs),
      lastsMeanMs: meanMs(3, fuel.lastsMeanMs),
    },
    none: {
      soonShare: share(0, none.soonShare),
      soonMeanMs: meanMs(0, none.soonMeanMs),
      refillsPerHour: refills,
    },
  };
}

const shareOf = (odds: number): number => odds / (1 + odds);
const within = (value: number, around: number, factor = learntWithin): number =>
  Math.min(around * factor, Math.max(around / factor, value));
