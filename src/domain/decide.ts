import type { FirstSeen } from "#src/domain/devices.ts";
import {
  advance,
  type Event,
  type Folded,
  positionOf,
  step,
  supportersOf,
} from "#src/domain/fold.ts";
import type { FoldRules } from "#src/domain/rules.ts";
import { emptyState, type Mark, type Seed, type StationState, order } from "#src/domain/state.ts";
import type { StateAt } from "#src/domain/status-runs.ts";
import type { Outcome, Reason, ServedStatus } from "#src/domain/vocabulary.ts";
import { view } from "#src/domain/view.ts";

/** What became of one mark: the changing part of `published` in docs/contract.md 2.8 and docs/decisions.md 5. */
export interface MarkOutcome {
  outcome: Outcome;
  /** The status served now. */
  status: ServedStatus;
  reason: Reason;
  /** Independent devices of the mark's own version. */
  have: number;
}

export interface Facts {
  state: StationState;
  opinions: readonly Mark[];
  /** Every counted mark and import that can still matter, when something does not sort last; else null. */
  history: { marks: readonly Mark[]; seeds: readonly Seed[] } | null;
}

export interface Arrivals {
  marks: readonly Mark[];
  seeds: readonly Seed[];
}

export interface Decision extends Folded {
  /** By mark id. */
  outcomes: ReadonlyMap<number, MarkOutcome>;
  /** What the station was after each event that was folded, in order. */
  states: readonly StateAt[];
}

/** True when the arrivals can be folded in one by one; false when the station's history is needed. */
export function sortsLast(state: StationState, arrivals: Arrivals): boolean {
  const earliest = eventsOf(arrivals)[0];
  return (
    earliest === undefined || state.last === null || order(state.last, positionOf(earliest)) < 0
  );
}

/**
 * The fold of docs/decisions.md 2 for one station: takes the arriving marks in their order of arrival and says what
 * became of each. A mark that sorts last is one step; any other folds the history anew. Without arrivals and with
 * a history it is the refold after a review or a rollback. Pure: `now` (ms) is only where outcomes are read.
 */
export function decide(
  facts: Facts,
  arrivals: Arrivals,
  firstSeen: FirstSeen,
  now: number,
  rules: FoldRules,
): Decision {
  const known = eventsOf(facts.history ?? { marks: [], seeds: [] });
  const origin =
    facts.history === null
      ? { state: facts.state, opinions: byReporter(facts.opinions) }
      : start(facts.state, known);
  // What the fold was after each known event, so that a late one folds anew only what comes after it.
  const trail: Folded[] = [];
  const foldFrom = (index: number): Folded => {
    trail.length = index;
    let folded = trail.at(-1) ?? origin;
    for (const event of known.slice(index)) {
      folded = step(folded, event, firstSeen, rules);
      trail.push(folded);
    }
    return folded;
  };
  let folded = foldFrom(0);
  const outcomes = new Map<number, MarkOutcome>();
  const arriving: Event[] = [
    ...arrivals.seeds.map((seed): Event => ({ kind: "seed", seed })),
    ...arrivals.marks
      .toSorted((a, b) => a.id - b.id)
      .map((mark): Event => ({ kind: "mark", mark })),
  ];
  for (const event of inOrderWhereOneByOne(arriving, facts)) {
    const before = servedAt(folded.state, now, rules);
    const later = known.findIndex((one) => order(positionOf(event), positionOf(one)) < 0);
    const index = later === -1 ? known.length : later;
    known.splice(index, 0, event);
    folded = foldFrom(index);
    if (event.kind === "mark")
      outcomes.set(event.mark.id, outcomeOf(event.mark, folded, before, now, rules));
  }
  const states = trail.map(({ state }, index) => ({ at: positionOf(known[index]!).at, state }));
  return { ...folded, outcomes, states };
}

const eventsOf = (from: { marks: readonly Mark[]; seeds: readonly Seed[] }): Event[] =>
  [
    ...from.marks.map((mark): Event => ({ kind: "mark", mark })),
    ...from.seeds.map((seed): Event => ({ kind: "seed", seed })),
  ].sort((a, b) => order(positionOf(a), positionOf(b)));

/** Without a history nothing can be folded anew, so the arrivals go in by their order instead of by arrival. */
const inOrderWhereOneByOne = (arriving: Event[], facts: Facts): Event[] =>
  facts.history === null
    ? arriving.toSorted((a, b) => order(positionOf(a), positionOf(b)))
    : arriving;

const byReporter = (marks: readonly Mark[]): Map<number, Mark> =>
  new Map(marks.map((mark) => [mark.reporterId, mark]));

/**
 * Where a refold starts: nothing, but for the age of a status older than all that is folded. After a withdrawal
 * the caller must not hand on a `lastUpdated` that a withdrawn mark may have set.
 */
const start = (saved: StationState, events: readonly Event[]): Folded => {
  const first = events[0];
  const older =
    saved.lastUpdated !== null && (first === undefined || saved.lastUpdated < positionOf(first).at);
  return {
    state: { ...emptyState, lastUpdated: older ? saved.lastUpdated : null },
    opinions: new Map(),
  };
};

const servedAt = (state: StationState, now: number, rules: FoldRules): ServedStatus =>
  advance(state, now, rules).served?.status ?? "nodata";

function outcomeOf(
  mark: Mark,
  folded: Folded,
  before: ServedStatus,
  now: number,
  rules: FoldRules,
): MarkOutcome {
  const state = advance(folded.state, now, rules);
  const shown = view(folded.state, now, rules.statusLifetimeMs);
  const live = [...folded.opinions.values()].filter(
    (opinion) => now < opinion.at + rules.statusLifetimeMs,
  );
  const supports = supportersOf(mark.status, live, state).some((opinion) => opinion.id === mark.id);
  const version = state.versions.find((some) => some.status === mark.status);
  const served = state.served?.status ?? "nodata";
  const have =
    served === mark.status ? state.served!.realCount : supports ? (version?.count ?? 0) : 0;
  const outcome = (): Outcome => {
    if (served === mark.status && before !== mark.status) return "published";
    if (!supports) return "superseded";
    if (served === mark.status) return "confirmed";
    if (version === undefined) return "superseded";
    return version.disputed === null ? "pending" : "conflict";
  };
  return { outcome: outcome(), status: shown.status, reason: shown.resolution_reason, have };
}
