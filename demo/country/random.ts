/** Pseudo-random choices, the same for the same seed on every machine. */
export interface Random {
  /** From 0 to below 1. */
  next(): number;
  between(low: number, high: number): number;
  /** A whole number from `low` to `high`, both included. */
  int(low: number, high: number): number;
  chance(probability: number): boolean;
  pick<T>(from: readonly T[]): T;
  /** One of `[thing, weight]`. */
  weighted<T>(from: readonly (readonly [T, number])[]): T;
}

/** mulberry32: 32 bits of state are enough for a country of 10,000 stations. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (low: number, high: number): number => low + (high - low) * next();
  const int = (low: number, high: number): number => Math.floor(between(low, high + 1));
  const pick = <T>(from: readonly T[]): T => {
    if (from.length === 0) throw new Error("nothing to pick from");
    return from[int(0, from.length - 1)] as T;
  };
  const weighted = <T>(from: readonly (readonly [T, number])[]): T => {
    let left = between(
      0,
      from.reduce((sum, [, weight]) => sum + weight, 0),
    );
    for (const [thing, weight] of from) if ((left -= weight) < 0) return thing;
    return pick(from)[0];
  };
  return { next, between, int, chance: (probability) => next() < probability, pick, weighted };
}
