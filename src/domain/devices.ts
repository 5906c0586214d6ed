import type { FoldRules } from "#src/domain/rules.ts";
import type { Mark, Side } from "#src/domain/state.ts";
import { family, type Rule, type Status } from "#src/domain/vocabulary.ts";
import { distanceM, type Point } from "#src/domain/geo.ts";
import { hourMs } from "#src/domain/units.ts";

/** First-seen times (ms) by reporter id. */
export type FirstSeen = (reporterId: number) => number;

/** The ages and the rules by which a fold judges. */
export interface Basis {
  firstSeen: FirstSeen;
  rules: FoldRules;
}

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
  basis: Basis,
): T[][] {
  const sorted = opinions
    .map((opinion) => ({ opinion, seen: basis.firstSeen(opinion.reporterId) }))
    .sort((a, b) => a.seen - b.seen || a.opinion.reporterId - b.opinion.reporterId);
  const groups: T[][] = [];
  let opener = Number.NEGATIVE_INFINITY;
  for (const { opinion, seen } of sorted) {
    const group = groups.at(-1);
    if (group !== undefined && seen - opener < basis.rules.deviceWindowMs) group.push(opinion);
    else {
      groups.push([opinion]);
      opener = seen;
    }
  }
  const newNetwork = ({ reporterId, network }: T): string | undefined =>
    at - basis.firstSeen(reporterId) < basis.rules.newcomerMs ? network : undefined;
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

export type Verdict =
  | { kind: "disputed"; served: Side; challenger: Side }
  | { kind: "challenger-faded" }
  | { kind: "challenger-wins" };

const weight = (device: readonly Mark[], at: number, basis: Basis): number =>
  (device.every((mark) => mark.remote) ? 0.5 : 1) *
  (device.every((mark) => at - basis.firstSeen(mark.reporterId) < basis.rules.newcomerMs)
    ? 0.5
    : 1);

/**
 * The dispute rule of decisions 2 at the moment `at` (ms), for a version with enough devices whose family is
 * not the served status's. `live`: all live opinions on the station; `supporters`: the version's.
 */
export function judgeDispute(
  input: {
    at: number;
    served: Status;
    status: Status;
    supporters: readonly Mark[];
    live: readonly Mark[];
  },
  basis: Basis,
): Verdict {
  const { at } = input;
  const recent = (mark: Mark): boolean => at - mark.at < basis.rules.disputeWindowMs;
  const challengers = input.supporters.filter(recent);
  const defenders = input.live
    .filter((mark) => family(mark.status) === family(input.served))
    .filter(recent);
  const sides = [defenders, challengers].map((marks) => {
    const groups = devices(marks, at, basis);
    return {
      count: groups.length,
      weight: groups.reduce((sum, group) => sum + weight(group, at, basis), 0),
      updated: marks.reduce((newest, mark) => Math.max(newest, mark.at), 0),
    };
  });
  const [served, challenger] = sides as [(typeof sides)[0], (typeof sides)[0]];
  if (challenger.count < 2) return { kind: "challenger-faded" };
  if (served.count < 2 || challenger.weight > served.weight) return { kind: "challenger-wins" };
  return {
    kind: "disputed",
    served: { status: input.served, count: served.count, updated: served.updated },
    challenger: { status: input.status, count: challenger.count, updated: challenger.updated },
  };
}

/** Moments (ms) after `at`, up to `until`, at which time may change a verdict: a mark or a newcomer ages out. */
export function verdictInstants(
  live: readonly Mark[],
  at: number,
  until: number,
  basis: Basis,
): number[] {
  const instants: number[] = [];
  const add = (instant: number): void => {
    if (instant > at && instant <= until) instants.push(instant);
  };
  for (const mark of live) {
    add(mark.at + basis.rules.disputeWindowMs);
    add(mark.at + basis.rules.statusLifetimeMs);
    if (mark.status === "no") add(mark.at + basis.rules.newcomerNoMs);
    add(basis.firstSeen(mark.reporterId) + basis.rules.newcomerMs);
  }
  return instants;
}

/** The numbers of decisions 1 that decide whether a mark is geolocated. */
export interface JudgeRules {
  nearM: number;
  accuracyCapM: number;
  accuracyMaxM: number;
  speedMaxKmh: number;
  speedFreeM: number;
}

export interface Located extends Point {
  /** Effective time, ms. */
  at: number;
}

/** Possible movement (decisions 1): not over `speedMaxKmh` over more than `speedFreeM`. */
export function isPossibleMovement(from: Located, to: Located, rules: JudgeRules): boolean {
  const metres = distanceM(from, to);
  if (metres <= rules.speedFreeM) return true;
  const hours = Math.abs(to.at - from.at) / hourMs;
  return metres / 1000 <= rules.speedMaxKmh * hours;
}

/**
 * True for a mark that is not geolocated (decisions 1): no coordinates, a bad accuracy, too far from the
 * station, or a movement that is not possible since `previous`, the reporter's previous located mark.
 */
export function isRemote(
  mark: { lat: number | null; lon: number | null; accM: number | null; at: number },
  station: Point,
  previous: Located | null,
  rules: JudgeRules,
): boolean {
  if (mark.lat === null || mark.lon === null) return true;
  if (mark.accM !== null && mark.accM > rules.accuracyMaxM) return true;
  const here = { lat: mark.lat, lon: mark.lon, at: mark.at };
  const reach = rules.nearM + Math.min(mark.accM ?? 0, rules.accuracyCapM);
  if (distanceM(here, station) > reach) return true;
  return previous !== null && !isPossibleMovement(previous, here, rules);
}

/** The first row of the table of decisions 2 that applies: devices that a mark's version needs, and why. */
export function neededFor(mark: {
  status: Status;
  remote: boolean;
  confirmMin: number;
  othersNearby: boolean;
}): {
  needed: number;
  rule: Rule;
} {
  if (mark.confirmMin > 0) return { needed: mark.confirmMin, rule: "key-threshold" };
  if (mark.remote) return { needed: 2, rule: "remote" };
  if (mark.status === "no" && mark.othersNearby) return { needed: 2, rule: "no-nearby-marks" };
  return { needed: 1, rule: "geolocated" };
}
