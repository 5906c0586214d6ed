import type { FoldRules } from "#src/domain/rules.ts";

/** First-seen times (ms) by reporter id. */
export type FirstSeen = (reporterId: number) => number;

/** The reporter of an opinion, with its viewer's network if new devices of that network count as one device. */
interface Opinion {
  reporterId: number;
  network?: string;
}

/**
 * Groups reporters into independent devices (decisions 1.8) at the moment `at`, ms: sorted by first seen, a group
 * opens with the earliest and takes in everyone first seen less than `deviceWindowMs` after its opener. Anchored, not
 * chained. Then groups that hold newcomers of one network become one.
 */
export function devices<T extends Opinion>(
  opinions: readonly T[],
  at: number,
  firstSeen: FirstSeen,
  rules: Pick<FoldRules, "deviceWindowMs" | "newcomerMs">,
): T[][] {
  const sorted = opinions
    .map((opinion) => ({ opinion, seen: firstSeen(opinion.reporterId) }))
    .sort((a, b) => a.seen - b.seen || a.opinion.reporterId - b.opinion.reporterId);
  const groups: T[][] = [];
  let opener = Number.NEGATIVE_INFINITY;
  for (const { opinion, seen } of sorted) {
    const group = groups.at(-1);
    if (group !== undefined && seen - opener < rules.deviceWindowMs) group.push(opinion);
    else {
      groups.push([opinion]);
      opener = seen;
    }
  }
  const newNetwork = ({ reporterId, network }: T): string | undefined =>
    at - firstSeen(reporterId) < rules.newcomerMs ? network : undefined;
  return groups.length < 2 ? groups : joinedByNetwork(groups, newNetwork);
}

/** Joins groups that have a network in common, directly or through a third group. */
function joinedByNetwork<T>(groups: T[][], networkOf: (one: T) => string | undefined): T[][] {
  const joined: { members: T[]; networks: Set<string> }[] = [];
  for (const members of groups) {
    const networks = new Set(members.flatMap((one) => networkOf(one) ?? []));
    const shares = (other: { networks: Set<string> }): boolean =>
      networks.size > 0 && [...networks].some((network) => other.networks.has(network));
    const [first, ...others] = joined.filter(shares);
    if (first === undefined) {
      joined.push({ members, networks });
      continue;
    }
    for (const one of [...others, { members, networks }]) {
      first.members = [...first.members, ...one.members];
      for (const network of one.networks) first.networks.add(network);
    }
    for (const other of others) joined.splice(joined.indexOf(other), 1);
  }
  return joined.map(({ members }) => members);
}
