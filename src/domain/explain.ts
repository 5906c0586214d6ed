import { priceSupport, type PriceSupport } from "#src/domain/details.ts";
import { type Basis, devices, type FirstSeen } from "#src/domain/devices.ts";
import {
  advance,
  type Event,
  type Folded,
  foldAll,
  positionOf,
  step,
  supportersAt,
} from "#src/domain/fold.ts";
import type { FoldRules } from "#src/domain/rules.ts";
import { emptyState, type Mark, order, type Seed, type StationState } from "#src/domain/state.ts";
import {
  type Grade,
  grades,
  type Reason,
  type Rule,
  type ServedStatus,
  type Status,
} from "#src/domain/vocabulary.ts";
import { settle, view } from "#src/domain/view.ts";

/** The values that a station showed after a step. */
export interface Shown {
  status: ServedStatus;
  seeded: boolean;
  confirmations: number;
  realCount: number;
  pendingStatus: Status | "";
  pendingCount: number;
  reason: Reason;
}

/** A price with too few devices behind it. */
export interface WaitingPrice extends PriceSupport {
  grade: Grade;
  price: number;
}

/** The devices that one mark needed and had at its own moment, and its effect. */
export interface MarkStep {
  kind: "mark";
  at: number;
  markId: number;
  reporterId: number;
  status: Status;
  remote: boolean;
  /** Devices that the mark needs and the rule that says so, as its first processing left them. */
  needed: number;
  rule: Rule;
  /** Devices that its version needs: the least of its supporters'. */
  versionNeeded: number;
  /** Independent devices and reporters behind its version right after it. */
  have: number;
  reporters: number;
  /** The same reporter's earlier opinion, now replaced. */
  replaces: Status | null;
  effect: "published" | "renewed" | "counted" | "disputed" | "pending" | "older";
  /** Its prices that do not count right after it. */
  waitingPrices: WaitingPrice[];
  shown: Shown;
}

export interface SeedStep {
  kind: "seed";
  at: number;
  status: Status;
  /** False if a human status or a newer import prevented it. */
  taken: boolean;
  shown: Shown;
}

/** A change by the passing of time. */
export interface TimeStep {
  kind: "time";
  at: number;
  effect:
    | "status-expired"
    | "import-expired"
    | "pending-expired"
    | "dispute-published"
    | "dispute-ended";
  status: Status;
  shown: Shown;
}

export type Step = MarkStep | SeedStep | TimeStep;

export interface Explanation {
  steps: Step[];
  /** The end of the fold: the state that is stored for the station. */
  state: StationState;
}

/**
 * Explains a station's answer at `now` (ms): the fold of decisions 2 over its counted marks and imports, step by step,
 * with the changes by the passing of time in between. `lastUpdated`: the age of a status older than all these. Only the
 * newest `described` marks and imports become steps; older ones are folded.
 */
export function explain(
  history: { marks: readonly Mark[]; seeds: readonly Seed[] },
  lastUpdated: number | null,
  firstSeen: FirstSeen,
  now: number,
  rules: FoldRules,
  described = Number.POSITIVE_INFINITY,
): Explanation {
  const basis: Basis = { firstSeen, rules };
  const events: Event[] = [
    ...history.marks.map((mark): Event => ({ kind: "mark", mark })),
    ...history.seeds.map((seed): Event => ({ kind: "seed", seed })),
  ].sort((a, b) => order(positionOf(a), positionOf(b)));
  const first = Math.max(0, events.length - described);
  const origin = { state: { ...emptyState, lastUpdated }, opinions: [] };
  let folded: Folded = foldAll(origin, events.slice(0, first), basis);
  const steps: Step[] = [];
  for (const event of events.slice(first)) {
    const { at } = positionOf(event);
    steps.push(...passed(folded.state, at, rules));
    const before = folded;
    folded = step(before, event, basis);
    const shown = shownAt(folded.state, at, rules);
    steps.push(
      event.kind === "seed"
        ? {
            kind: "seed",
            at,
            status: event.seed.status,
            taken: folded.state.seeded === event.seed,
            shown,
          }
        : markStep(event.mark, before, folded, shown, basis),
    );
  }
  steps.push(...passed(folded.state, now, rules));
  return { steps, state: folded.state };
}

function markStep(mark: Mark, before: Folded, after: Folded, shown: Shown, basis: Basis): MarkStep {
  const { at, id, reporterId, status, remote, needed, rule } = mark;
  const was = advance(before.state, at, basis.rules).served;
  const { served, versions } = after.state;
  const supporters = supportersAt(status, after.opinions, after.state, at, basis);
  const have = devices(supporters, at, basis).length;
  const replaced = before.opinions.find((one) => one.reporterId === reporterId);
  const live = replaced !== undefined && at < replaced.at + basis.rules.statusLifetimeMs;
  const effect = (): MarkStep["effect"] => {
    if (served?.status === status && was?.status !== status) return "published";
    if (served?.status === status) return served.updated > was!.updated ? "renewed" : "counted";
    const version = versions.find((one) => one.status === status);
    if (version === undefined) return "older";
    return version.disputed === null ? "pending" : "disputed";
  };
  return {
    kind: "mark",
    at,
    markId: id,
    reporterId,
    status,
    remote,
    needed,
    rule,
    versionNeeded: Math.min(needed, ...supporters.map((one) => one.needed)),
    have,
    reporters: supporters.length,
    replaces: live ? replaced.status : null,
    effect: effect(),
    waitingPrices: waitingPrices(mark, supporters, basis),
    shown,
  };
}

/** The prices of a mark that do not count at its own moment, among the supporters of its status. */
function waitingPrices(mark: Mark, supporters: readonly Mark[], basis: Basis): WaitingPrice[] {
  if (!supporters.some(({ id }) => id === mark.id)) return [];
  const count = (marks: readonly Mark[]): number => devices(marks, mark.at, basis).length;
  return grades.flatMap((grade) => {
    const price = mark.prices?.[grade];
    if (price === undefined) return [];
    const support = priceSupport(mark, grade, supporters, count, basis.rules);
    return support.have < support.needed ? { grade, price, ...support } : [];
  });
}

/** The changes by the passing of time after a state's last step, up to `until`, in order. */
function passed(folded: StationState, until: number, rules: FoldRules): TimeStep[] {
  const found: Omit<TimeStep, "shown">[] = [];
  const { statusLifetimeMs: life } = rules;
  for (let state: StationState | null = folded; state !== null;) {
    const next: StationState["next"] = state.next;
    const end = Math.min(next?.at ?? Number.POSITIVE_INFINITY, until);
    const from = state === folded ? Number.NEGATIVE_INFINITY : start(folded, state);
    const expires = (at: number, effect: TimeStep["effect"], status: Status): void => {
      if (at + life >= from && at + life <= end)
        found.push({ kind: "time", at: at + life, effect, status });
    };
    if (state.served !== null) expires(state.served.updated, "status-expired", state.served.status);
    if (state.seeded !== null) expires(state.seeded.updated, "import-expired", state.seeded.status);
    for (const version of state.versions)
      expires(version.newest.at, "pending-expired", version.status);
    if (next === null || next.at > until) break;
    const disputed = state.versions.find((version) => version.disputed !== null);
    const won = next.state.served !== null && next.state.served.status !== state.served?.status;
    const status = won ? next.state.served?.status : disputed?.status;
    if (status !== undefined)
      found.push({
        kind: "time",
        at: next.at,
        effect: won ? "dispute-published" : "dispute-ended",
        status,
      });
    state = next.state;
  }
  return found
    .sort((a, b) => a.at - b.at)
    .map((one) => ({ ...one, shown: shownAt(folded, one.at, rules) }));
}

/** The time at which `state`, one of the states that follow `folded` by time, begins. */
function start(folded: StationState, state: StationState): number {
  let at = Number.NEGATIVE_INFINITY;
  for (let one = folded; one !== state && one.next !== null; one = one.next.state) at = one.next.at;
  return at;
}

function shownAt(folded: StationState, at: number, rules: FoldRules): Shown {
  const block = view(settle(folded, at), at, rules.statusLifetimeMs);
  return {
    status: block.status,
    seeded: block.seeded,
    confirmations: block.confirmations,
    realCount: block.real_count,
    pendingStatus: block.pending_status,
    pendingCount: block.pending_count,
    reason: block.resolution_reason,
  };
}
