import { type Belief, hasFuel, plus, stages, states } from "#src/domain/chance/belief.ts";
import type { ChanceNumbers } from "#src/domain/chance/numbers.ts";
import { hourMs } from "#src/domain/units.ts";

/** What a mark says, and how it is to be weighed. */
export interface Evidence {
  fuel: boolean;
  /** How often an honest mark comes from a station untold, told and known: 1 where only those beside changes come. */
  honest: readonly [number, number, number];
  mistakes: number;
  /** The same of a lying mark, where the opposite of it is true. */
  lying: number;
}

/** `share`: of lies, below 1. `perHour`: the station's marks. */
export function evidenceOf(
  numbers: ChanceNumbers,
  fuel: boolean,
  share: number,
  perHour: number,
): Evidence {
  const { telling, besideChanges, mistakes, lies } = numbers;
  const beside = perHour * besideChanges;
  const after = (meanMs: number): number => 1 + hourMs / meanMs / beside;
  return {
    fuel,
    honest: [after(telling.firstMeanMs), after(telling.furtherMeanMs), 1],
    mistakes,
    lying: ((share / (1 - share)) * (fuel ? lies.fuel : lies.none)) / besideChanges,
  };
}

/** The part of a belief in which the mark lies. What it says is told by nobody. */
export const lyingPart = (belief: Belief, { fuel, lying }: Evidence): Belief =>
  belief.map((weight, state) => (hasFuel(state) === fuel ? 0 : weight * lying));

/** The part in which it is honest: one more has told. */
export function honestPart(belief: Belief, { fuel, honest, mistakes }: Evidence): Belief {
  const part: number[] = [];
  for (let state = 0; state < states; state += stages) {
    const fits = hasFuel(state) === fuel ? 1 - mistakes : mistakes;
    const [untold, told, known] = honest.map((often, n) => belief[state + n]! * often * fits);
    part.push(0, untold!, told! + known!);
  }
  return part;
}

/** What is believed after the mark; parts of a belief stay its parts. */
export const heard = (belief: Belief, evidence: Evidence): Belief =>
  plus(honestPart(belief, evidence), lyingPart(belief, evidence));

/** How well each state before the mark explains it and what came after it, `later`: the transpose of `heard`. */
export function explained(later: Belief, { fuel, honest, mistakes, lying }: Evidence): Belief {
  return later.map((weight, state) => {
    const fits = hasFuel(state) === fuel;
    const stage = state % stages;
    const next = later[state - stage + Math.min(stage + 1, stages - 1)]!;
    return honest[stage]! * (fits ? 1 - mistakes : mistakes) * next + (fits ? 0 : lying * weight);
  });
}
