import {
  type Belief,
  kinds,
  normal,
  plus,
  scaled,
  stages,
  states,
  weightOf,
} from "#src/domain/chance/belief.ts";
import {
  emptyMatrix,
  exponential,
  type Matrix,
  product,
  times,
} from "#src/domain/chance/matrix.ts";
import type { ChanceNumbers } from "#src/domain/chance/numbers.ts";
import { dayMs, hourMs, minuteMs } from "#src/domain/units.ts";

const minutesAnHour = hourMs / minuteMs;
const hoursADay = dayMs / hourMs;

/** The hour of the day, 0 to 23, of a local minute. */
const hourOf = (minute: number): number => Math.floor(minute / minutesAnHour) % hoursADay;

/**
 * How a belief changes while no mark comes; times are local, in whole minutes. A weight also loses the marks that tell of
 * a change and did not come: silence is evidence. Marks beside the changes come as often in every state, so their silence
 * says nothing, and the matrices are the same for all stations.
 */
export function createPassage(numbers: ChanceNumbers) {
  const silent = tableOf(numbers, "silent");
  const priors = priorsOf(tableOf(numbers, "unheard").hours);
  const silenceMin = numbers.silenceMs / minuteMs;

  /** What is believed of a station that nobody ever told of. */
  const prior = (minute: number): Belief => priors[hourOf(minute)]!;

  /** Every weight is multiplied alike, so that parts of a belief stay its parts. */
  const pass = (belief: Belief, from: number, until: number): Belief => {
    if (until <= from) return belief;
    const kept = Math.exp(-(((until - from) / silenceMin) ** 2));
    const rest = scaled(prior(until), weightOf(belief) * (1 - kept));
    if (kept < Number.EPSILON) return rest;
    const passed = walk(silent, belief, from, until);
    return plus(scaled(passed, kept), rest);
  };
  return { pass, prior };
}

/** By hour of the day: the passage of 1, 2, 4, 8, 16 and 32 minutes, and of all of it. */
interface Table {
  minutes: Matrix[][];
  hours: Matrix[];
}

function tableOf(numbers: ChanceNumbers, how: "silent" | "unheard"): Table {
  const minutes = Array.from({ length: hoursADay }, (_, hour) => {
    const rates = ratesOf(numbers, hour, how);
    const powers = [exponential(rates.map((rate) => rate / minutesAnHour))];
    while (2 ** powers.length < minutesAnHour) powers.push(product(powers.at(-1)!, powers.at(-1)!));
    return powers;
  });
  const hours = minutes.map(([, , ...powers]) => powers.reduce(product));
  return { minutes, hours };
}

function walk({ minutes, hours }: Table, belief: Belief, from: number, until: number): Belief {
  let passed = belief;
  for (let at = from; at < until;) {
    const hour = hourOf(at);
    const left = until - at;
    const inHour = at % minutesAnHour;
    if (inHour === 0 && left >= minutesAnHour) {
      passed = times(passed, hours[hour]!);
      at += minutesAnHour;
      continue;
    }
    const step = Math.min(minutesAnHour - inHour, left);
    for (let bit = 0; step >> bit > 0; bit += 1)
      if (((step >> bit) & 1) === 1) passed = times(passed, minutes[hour]![bit]!);
    at += step;
  }
  return passed;
}

/** By kind: how often it ends, an hour, and the share of it among those that begin with as much fuel. */
const turnsOf = (
  { fuel, none }: Pick<ChanceNumbers, "fuel" | "none">,
  hour: number,
): { ends: number[]; begins: number[] } => ({
  ends: [
    hourMs / none.soonMeanMs,
    none.refillsPerHour[hour]!,
    hourMs / fuel.soonMeanMs,
    hourMs / fuel.lastsMeanMs,
  ],
  begins: [none.soonShare, 1 - none.soonShare, fuel.soonShare, 1 - fuel.soonShare],
});

/** The two kinds that a kind ends with. */
const othersOf = (kind: number): readonly number[] => (kind < kinds / 2 ? [2, 3] : [0, 1]);

/**
 * Rates an hour from state to state. `silent`: the first and further marks after a change are lost, each with the weight
 * of the states in which it would have come. `unheard`: they come, and nobody listens.
 */
function ratesOf(numbers: ChanceNumbers, hour: number, how: "silent" | "unheard"): Matrix {
  const { telling } = numbers;
  const { ends, begins } = turnsOf(numbers, hour);
  const rates = emptyMatrix();
  const move = (from: number, to: number | null, rate: number): void => {
    rates[from * states + from]! -= rate;
    if (to !== null) rates[from * states + to]! += rate;
  };
  for (let kind = 0; kind < kinds; kind += 1) {
    const [untold, told, known] = [0, 1, 2].map((stage) => stages * kind + stage);
    for (const state of [untold!, told!, known!])
      for (const other of othersOf(kind)) move(state, stages * other, ends[kind]! * begins[other]!);
    move(untold!, how === "silent" ? null : told!, hourMs / telling.firstMeanMs);
    if (how === "silent") move(told!, null, hourMs / telling.furtherMeanMs);
    move(told!, known!, hourMs / telling.knownMeanMs);
  }
  return rates;
}

/** By hour of the day: the belief that a day leaves as it is. */
function priorsOf(hours: readonly Matrix[]): Belief[] {
  const uniform = Array.from({ length: states }, () => 1 / states);
  let first: Belief = uniform;
  for (let turn = 0; turn < 100; turn += 1) first = normal(hours.reduce(times, first));
  const priors = [first];
  for (const hour of hours.slice(0, -1)) priors.push(normal(times(priors.at(-1)!, hour)));
  return priors;
}
