import type { OracleMark } from "#test/oracle/story.ts";

/** The groups of independent devices behind these marks at a step of the fold (decisions 1.8). */
export function groups(
  marks: readonly OracleMark[],
  at: number,
  firstSeen: (reporter: string) => number,
): OracleMark[][] {
  const found: OracleMark[][] = [];
  let opened = Number.NEGATIVE_INFINITY;
  for (const mark of [...marks].sort((a, b) => firstSeen(a.reporter) - firstSeen(b.reporter))) {
    const seen = firstSeen(mark.reporter);
    if (found.length === 0 || seen - opened >= 600_000) {
      found.push([]);
      opened = seen;
    }
    found.at(-1)!.push(mark);
  }
  const networks = (group: readonly OracleMark[]) =>
    group
      .filter((mark) => isNewcomer(firstSeen(mark.reporter), at))
      .flatMap((mark) => mark.network ?? []);
  let joined: OracleMark[][] = [];
  for (const group of found) {
    const own = networks(group);
    const isOne = (other: readonly OracleMark[]) =>
      networks(other).some((network) => own.includes(network));
    const same = joined.filter(isOne);
    joined = [...joined.filter((other) => !isOne(other)), [...same.flat(), ...group]];
  }
  return joined;
}

/** In the first 24 hours at `at`, the end excluded (decisions 1.14). */
export const isNewcomer = (firstSeen: number, at: number): boolean => at < firstSeen + 24 * 3600e3;
