/** Of a tenth of what may be said: how often it was said, the sum of it, and how often it came true. */
export interface Tenth {
  count: number;
  said: number;
  came: number;
}

/** How near chances are to what came true. */
export function createScore() {
  const tenths = Array.from({ length: 10 }, (): Tenth => ({ count: 0, said: 0, came: 0 }));
  let squares = 0;
  const count = (): number => tenths.reduce((all, tenth) => all + tenth.count, 0);
  return {
    tenths,
    note(said: number, came: boolean): void {
      squares += (said - Number(came)) ** 2;
      const tenth = tenths[Math.min(9, Math.floor(said * 10))]!;
      tenth.count += 1;
      tenth.said += said;
      tenth.came += Number(came);
    },
    /** Mean squared distance to what came true. */
    brier: (): number => squares / count(),
    /** Mean distance, over the tenths, between what was said and how often it came true. */
    calibration: (): number =>
      tenths.reduce((all, { said, came }) => all + Math.abs(said - came), 0) / count(),
  };
}
