/**
 * What a station may be: 0 none that ends soon, 1 none that lasts, 2 fuel that ends soon, 3 fuel that lasts; times whether
 * nobody has told of the last change (0), one has (1), or it is known (2). A state's number is 3 * kind + told. A belief has
 * a weight of each.
 */
export type Belief = readonly number[];

export const kinds = 4;
export const stages = 3;
export const states = kinds * stages;
export const hasFuel = (state: number): boolean => state >= states / 2;

export function weightOf(belief: Belief): number {
  let sum = 0;
  for (const weight of belief) sum += weight;
  return sum;
}

export const scaled = (belief: Belief, by: number): Belief => belief.map((weight) => weight * by);
export const normal = (belief: Belief): Belief => scaled(belief, 1 / weightOf(belief));
export const plus = (a: Belief, b: Belief): Belief => a.map((weight, state) => weight + b[state]!);

/** From 0 to 1. */
export function fuelIn(belief: Belief): number {
  let fuel = 0;
  for (let state = states / 2; state < states; state += 1) fuel += belief[state]!;
  return fuel / weightOf(belief);
}
