import { devices, type FirstSeen } from "#src/domain/devices.ts";
import type { FoldRules } from "#src/domain/rules.ts";
import type { Mark, Side } from "#src/domain/state.ts";
import { family, type Status } from "#src/domain/vocabulary.ts";

export type Verdict =
  | { kind: "disputed"; served: Side; challenger: Side }
  | { kind: "challenger-faded" }
  | { kind: "challenger-wins" };

const weight = (
  device: readonly Mark[],
  at: number,
  firstSeen: FirstSeen,
  rules: FoldRules,
): number =>
  (device.every((mark) => mark.remote) ? 0.5 : 1) *
  (device.every((mark) => at - firstSeen(mark.reporterId) < rules.newcomerMs) ? 0.5 : 1);

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
  firstSeen: FirstSeen,
  rules: FoldRules,
): Verdict {
  const { at } = input;
  const recent = (mark: Mark): boolean => at - mark.at < rules.disputeWindowMs;
  const challengers = input.supporters.filter(recent);
  const defenders = input.live
    .filter((mark) => family(mark.status) === family(input.served))
    .filter(recent);
  const sides = [defenders, challengers].map((marks) => {
    const groups = devices(marks, at, firstSeen, rules);
    return {
      count: groups.length,
      weight: groups.reduce((sum, group) => sum + weight(group, at, firstSeen, rules), 0),
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
  firstSeen: FirstSeen,
  rules: FoldRules,
): number[] {
  const instants: number[] = [];
  const add = (instant: number): void => {
    if (instant > at && instant <= until) instants.push(instant);
  };
  for (const mark of live) {
    add(mark.at + rules.disputeWindowMs);
    add(mark.at + rules.statusLifetimeMs);
    if (mark.status === "no") add(mark.at + rules.newcomerNoMs);
    add(firstSeen(mark.reporterId) + rules.newcomerMs);
  }
  return instants;
}
