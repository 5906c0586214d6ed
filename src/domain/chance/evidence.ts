import { type Belief, hasFuel, plus, stages, states } from "#src/domain/chance/belief.ts";
import type { ChanceNumbers } from "#src/domain/chance/numbers.ts";
import { type LieOdds, oddsOf } from "#src/domain/chance/shares.ts";
import { hourMs } from "#src/domain/units.ts";

/** What a mark says, and how it is to be weighed. */
export interface Evidence {
  fuel: boolean;
  /** How often an honest mark comes from a station untold, told and known: 1 where only those beside changes come. */
  honest: readonly [number, number, number];
  /** How likely it then says so, where this is true, and where the opposite is. */
  fits: number;
  mistaken: number;
  /** How often a lying one comes, where the opposite of it is true. */
  lying: number;
}

/**
 * `share`: of lies, below 1. `perHour`: the station's marks. `odds`: of people in the mean. Where people lie, more marks
 * come, and a station has fewer than these: each mark counts for as much less as more would have come. Else every lie that
 * is believed to be one would speak for the next.
 */
export function evidenceOf(
  numbers: ChanceNumbers,
  fuel: boolean,
  share: number,
  perHour: number,
  odds: LieOdds,
): Evidence {
  const { telling, besideChanges, mistakes, lies } = numbers;
  const beside = perHour * besideChanges;
  const after = (meanMs: number): number => 1 + hourMs / meanMs / beside;
  const none = lies.none / besideChanges;
  const some = lies.fuel / besideChanges;
  const whereFuel = 1 + odds.none * none;
  const whereNone = 1 + odds.fuel * some;
  const [whereTrue, whereFalse] = fuel ? [whereFuel, whereNone] : [whereNone, whereFuel];
  return {
    fuel,
    honest: [after(telling.firstMeanMs), after(telling.furtherMeanMs), 1],
    fits: (1 - mistakes) / whereTrue,
    mistaken: mistakes / whereFalse,
    lying: (oddsOf(share) * (fuel ? some : none)) / whereFalse,
  };
}

/** The part of a belief in which the mark lies. What it says is told by nobody. */
export const lyingPart = (belief: Belief, { fuel, lying }: Evidence): Belief =>
  belief.map((weight, state) => (hasFuel(state) === fuel ? 0 : weight * lying));

/** The part in which it is honest: one more has told. */
export function honestPart(belief: Belief, { fuel, honest, fits, mistaken }: Evidence): Belief {
  const part: number[] = [];
  for (let state = 0; state < states; state += stages) {
    const saysSo = hasFuel(state) === fuel ? fits : mistaken;
    const [untold, told, known] = honest.map((often, n) => belief[state + n]! * often * saysSo);
    part.push(0, untold!, told! + known!);
  }
  return part;
}

/** What is believed after the mark; parts of a belief stay its parts. */
export const heard = (belief: Belief, evidence: Evidence): Belief =>
  plus(honestPart(belief, evidence), lyingPart(belief, evidence));
