/**
 * A second reading of decisions 23, on one station: nothing is shared with `src/domain/chance` but the numbers. States are
 * written out by name, time goes in steps of three seconds, and whether each mark lied is decided once for every way to
 * decide it: the forward algorithm over all of them.
 */
export interface OracleNumbers {
  fuel: { soonShare: number; soonMeanMs: number; lastsMeanMs: number };
  none: { soonShare: number; soonMeanMs: number; refillsPerHour: readonly number[] };
  telling: { firstMeanMs: number; furtherMeanMs: number; knownMeanMs: number };
  besideChanges: number;
  silenceMs: number;
  mistakes: number;
  lies: { fuel: number; none: number };
}

/** A mark at a local minute; `share` of lies among such marks, `shareOfAll` among all, `perHour` marks of its station. */
export interface OracleMark {
  minute: number;
  fuel: boolean;
  share: number;
  shareOfAll: number;
  perHour: number;
}

type Kind = "none soon" | "none lasts" | "fuel soon" | "fuel lasts";
type Stage = "untold" | "told" | "known";
type Weights = Map<`${Kind}, ${Stage}`, number>;

const kindsOf: readonly Kind[] = ["none soon", "none lasts", "fuel soon", "fuel lasts"];
const stagesOf: readonly Stage[] = ["untold", "told", "known"];
/** Of a passage; what nobody listens to settles to the same with coarse steps. */
const stepsAMinute = 20;
const msAnHour = 3_600_000;

const isFuel = (kind: string): boolean => kind.startsWith("fuel");
const hourAt = (minute: number): number => Math.floor(minute / 60) % 24;
const total = (weights: Weights): number => [...weights.values()].reduce((a, b) => a + b, 0);
const shareOfFuel = (weights: Weights): number =>
  [...weights].reduce((sum, [state, weight]) => sum + (isFuel(state) ? weight : 0), 0) /
  total(weights);

function stepped(
  numbers: OracleNumbers,
  weights: Weights,
  hour: number,
  listening: boolean,
): Weights {
  const { fuel, none, telling } = numbers;
  const perStep = 1 / 60 / (listening ? stepsAMinute : 1);
  const end: Record<Kind, number> = {
    "none soon": msAnHour / none.soonMeanMs,
    "none lasts": none.refillsPerHour[hour]!,
    "fuel soon": msAnHour / fuel.soonMeanMs,
    "fuel lasts": msAnHour / fuel.lastsMeanMs,
  };
  const start: Record<Kind, number> = {
    "none soon": none.soonShare,
    "none lasts": 1 - none.soonShare,
    "fuel soon": fuel.soonShare,
    "fuel lasts": 1 - fuel.soonShare,
  };
  const next: Weights = new Map(weights);
  const add = (kind: Kind, stage: Stage, weight: number): void => {
    const state = `${kind}, ${stage}` as const;
    next.set(state, next.get(state)! + weight);
  };
  for (const kind of kindsOf)
    for (const stage of stagesOf) {
      const weight = weights.get(`${kind}, ${stage}`)! * perStep;
      for (const other of kindsOf) {
        if (isFuel(other) === isFuel(kind)) continue;
        const moved = weight * end[kind] * start[other];
        add(kind, stage, -moved);
        add(other, "untold", moved);
      }
      if (stage === "untold") {
        const told = (weight * msAnHour) / telling.firstMeanMs;
        add(kind, "untold", -told);
        if (!listening) add(kind, "told", told);
      }
      if (stage === "told") {
        const known = (weight * msAnHour) / telling.knownMeanMs;
        add(kind, "told", -known);
        add(kind, "known", known);
        if (listening) add(kind, "told", (-weight * msAnHour) / telling.furtherMeanMs);
      }
    }
  return next;
}

function walked(
  numbers: OracleNumbers,
  weights: Weights,
  from: number,
  until: number,
  listening: boolean,
): Weights {
  let passed = weights;
  for (let minute = from; minute < until; minute += 1)
    for (let step = 0; step < (listening ? stepsAMinute : 1); step += 1)
      passed = stepped(numbers, passed, hourAt(minute), listening);
  return passed;
}

/** By hour of the day: what a station settles to that nobody listens to. Takes seconds. */
export function oraclePriors(numbers: OracleNumbers): Weights[] {
  let weights: Weights = new Map(
    kindsOf.flatMap((kind) => stagesOf.map((stage) => [`${kind}, ${stage}`, 1 / 12] as const)),
  );
  // The slowest rates are those of days.
  for (let day = 0; day < 12; day += 1) weights = walked(numbers, weights, 0, 24 * 60, false);
  return Array.from({ length: 24 }, (_, hour) => walked(numbers, weights, 0, hour * 60, false));
}

function silent(
  numbers: OracleNumbers,
  priors: readonly Weights[],
  weights: Weights,
  from: number,
  until: number,
): Weights {
  const kept = Math.exp(-((((until - from) * 60_000) / numbers.silenceMs) ** 2));
  const prior = priors[hourAt(until)]!;
  const all = total(weights);
  const passed = walked(numbers, weights, from, until, true);
  return new Map(
    [...passed].map(([state, weight]) => [
      state,
      kept * weight + ((1 - kept) * all * prior.get(state)!) / total(prior),
    ]),
  );
}

function told(numbers: OracleNumbers, weights: Weights, mark: OracleMark, lies: boolean): Weights {
  const beside = mark.perHour * numbers.besideChanges;
  const next: Weights = new Map([...weights.keys()].map((state) => [state, 0]));
  const add = (kind: Kind, stage: Stage, weight: number): void => {
    const state = `${kind}, ${stage}` as const;
    next.set(state, next.get(state)! + weight);
  };
  for (const kind of kindsOf)
    for (const stage of stagesOf) {
      const weight = weights.get(`${kind}, ${stage}`)!;
      const isTrue = isFuel(kind) === mark.fuel;
      const liesHere = isFuel(kind) ? numbers.lies.none : numbers.lies.fuel;
      const liars = (share: number): number =>
        ((share / (1 - share)) * liesHere) / numbers.besideChanges;
      const some = weight / (1 + liars(mark.shareOfAll));
      if (lies) {
        add(kind, stage, isTrue ? 0 : some * liars(mark.share));
        continue;
      }
      const { firstMeanMs, furtherMeanMs } = numbers.telling;
      const extra = { untold: msAnHour / firstMeanMs, told: msAnHour / furtherMeanMs, known: 0 };
      const often = 1 + extra[stage] / beside;
      const fits = isTrue ? 1 - numbers.mistakes : numbers.mistakes;
      add(kind, stage === "untold" ? "told" : "known", some * often * fits);
    }
  return next;
}

/** The chance of fuel at `until`, a local minute, and of each mark the chance that it lied, after all marks. */
export function oracleChance(
  numbers: OracleNumbers,
  priors: readonly Weights[],
  marks: readonly OracleMark[],
  until: number,
): { chance: number; lied: number[] } {
  const first = marks[0]!.minute;
  const ends = Array.from({ length: 2 ** marks.length }, (_, way) => {
    let weights = priors[hourAt(first)]!;
    let at = first;
    marks.forEach((mark, n) => {
      weights = silent(numbers, priors, weights, at, mark.minute);
      weights = told(numbers, weights, mark, ((way >> n) & 1) === 1);
      at = mark.minute;
    });
    return { way, weights };
  });
  const all = ends.reduce((sum, { weights }) => sum + total(weights), 0);
  const last = marks.at(-1)!.minute;
  // Two marks of one moment that say the opposite cannot both lie.
  const ended = ends
    .filter(({ weights }) => total(weights) > 0)
    .map(({ weights }) => silent(numbers, priors, weights, last, until));
  const fuel = ended.reduce((sum, weights) => sum + shareOfFuel(weights) * total(weights), 0);
  return {
    chance: fuel / ended.reduce((sum, weights) => sum + total(weights), 0),
    lied: marks.map(
      (_, n) =>
        ends.reduce(
          (sum, { way, weights }) => sum + (((way >> n) & 1) === 1 ? total(weights) : 0),
          0,
        ) / all,
    ),
  };
}
