/** The groups of independent devices among these reporters (decisions 1). */
export function groups(
  reporters: readonly string[],
  firstSeen: (reporter: string) => number,
): string[][] {
  const found: string[][] = [];
  let opened = Number.NEGATIVE_INFINITY;
  for (const reporter of [...reporters].sort((a, b) => firstSeen(a) - firstSeen(b))) {
    if (found.length === 0 || firstSeen(reporter) - opened >= 600_000) {
      found.push([]);
      opened = firstSeen(reporter);
    }
    found.at(-1)!.push(reporter);
  }
  return found;
}
