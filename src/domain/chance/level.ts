/** Chances are stored and served in such steps, percent. */
export const chanceStep = 5;

/**
 * A chance in percent, in steps of 5. It stays at the level `before` while it is less than a step away from that: else a
 * chance between two levels would swing, and each swing is a change that is sent to all copies.
 */
export const levelOf = (chance: number, before: number | null): number =>
  before !== null && Math.abs(100 * chance - before) < chanceStep
    ? before
    : chanceStep * Math.round((100 * chance) / chanceStep);
