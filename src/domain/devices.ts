/** First-seen times (ms) by reporter id. */
export type FirstSeen = (reporterId: number) => number;

/**
 * Groups reporters into independent devices (docs/decisions.md 1): sorted by first seen, a group opens with the
 * earliest and takes in everyone first seen less than `windowMs` after its opener. Anchored, not chained.
 */
export function devices<T extends { reporterId: number }>(
  opinions: readonly T[],
  firstSeen: FirstSeen,
  windowMs: number,
): T[][] {
  const sorted = opinions
    .map((opinion) => ({ opinion, seen: firstSeen(opinion.reporterId) }))
    .sort((a, b) => a.seen - b.seen || a.opinion.reporterId - b.opinion.reporterId);
  const groups: T[][] = [];
  let opener = Number.NEGATIVE_INFINITY;
  for (const { opinion, seen } of sorted) {
    const group = groups.at(-1);
    if (group !== undefined && seen - opener < windowMs) group.push(opinion);
    else {
      groups.push([opinion]);
      opener = seen;
    }
  }
  return groups;
}
