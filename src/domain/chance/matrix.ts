import { type Belief, states } from "#src/domain/chance/belief.ts";

/** From each state (row) to each (column). */
export type Matrix = Float64Array;

export const emptyMatrix = (): Matrix => new Float64Array(states * states);

export function product(a: Matrix, b: Matrix): Matrix {
  const result = emptyMatrix();
  for (let row = 0; row < states; row += 1)
    for (let column = 0; column < states; column += 1)
      for (let n = 0; n < states; n += 1)
        result[row * states + column]! += a[row * states + n]! * b[n * states + column]!;
  return result;
}

/** e to the power of a matrix with small entries, by its series. */
export function exponential(matrix: Matrix): Matrix {
  let term: Matrix = matrix.map((_, at) => (at % (states + 1) === 0 ? 1 : 0));
  const sum = term.slice();
  for (let n = 1; n <= 16; n += 1) {
    term = product(term, matrix).map((value) => value / n);
    for (let at = 0; at < sum.length; at += 1) sum[at]! += term[at]!;
  }
  return sum;
}

export function times(belief: Belief, matrix: Matrix): Belief {
  const result = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
  for (let from = 0; from < states; from += 1) {
    const weight = belief[from]!;
    if (weight === 0) continue;
    const row = from * states;
    for (let to = 0; to < states; to += 1) result[to]! += weight * matrix[row + to]!;
  }
  return result;
}
