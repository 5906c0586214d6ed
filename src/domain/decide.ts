import { type Basis, devices, type FirstSeen } from "#src/domain/devices.ts";
import {
  advance,
  type Event,
  foldAll,
  type Folded,
  positionOf,
  step,
  supportersAt,
  supportersOf,
} from "#src/domain/fold.ts";
import { type Harm, harmOf } from "#src/domain/harm-limits.ts";
import type { FoldRules } from "#src/domain/rules.ts";
import {
  emptyState,
  type Mark,
  order,
  type Position,
  type Seed,
  type StationState,
} from "#src/domain/state.ts";
import { type StateAt, view } from "#src/domain/view.ts";
import {
  family,
  type Outcome,
  type Reason,
  type Rule,
  type ServedStatus,
} from "#src/domain/vocabulary.ts";

/** The outcome of one mark: the changing part of `published` in docs/contract.md 2.8 and decisions 5. */
export interface MarkOutcome {
  outcome: Outcome;
  /** The status served now. */
  status: ServedStatus;
  reason: Reason;
  /** Independent devices of the mark's own version. */
  have: number;
  /** The mark's own; `caution` is first known here (decisions 2.1). */
  needed: number;
  rule: Rule;
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
  /** Ids of the marks whose verdict stands already (decisions 2.1). */
  judged?: ReadonlySet<number>;
}

export interface Decision {
  state: StationState;
  /** The live opinions, by reporter. */
  opinions: ReadonlyMap<number, Mark>;
  /** Outcomes by mark id. */
  outcomes: ReadonlyMap<number, MarkOutcome>;
  /** Harm that arriving marks did to drivers, by mark id; other marks are absent. */
  harms: ReadonlyMap<number, Harm>;
  /** The station's state after each folded event, in order. */
  states: readonly StateAt[];
}

/**
 * True when the arrivals can be folded in one by one; false when the station's history is needed. This includes
 * arrivals that were received in another order than they sort, since each is judged by the marks received before it.
 */
export function sortsLast(
  state: StationState,
  arriving: { marks: readonly Position[]; seeds: readonly Seed[] },
): boolean {
  const marks = arriving.marks.toSorted(order);
  const seeds = arriving.seeds.map((seed) => positionOf({ kind: "seed", seed }));
  const [earliest] = [...marks, ...seeds].sort(order);
  return (
    earliest === undefined ||
    (marks.every(({ id }, index) => index === 0 || marks[index - 1]!.id < id) &&
      (state.last === null || order(state.last, earliest) < 0))
  );
}

/**
 * The fold of decisions 2 for one station: takes the arriving marks and gives the outcome of each. Marks that sort last
 * are steps, one after the other; otherwise the history is folded anew with all of them in their places (2.17). A call
 * with a history and without arrivals is the refold after a review or a rollback. Pure: outcomes are those at `now`
 * (ms).
 */
export function decide(
  facts: Facts,
  arrivals: Arrivals,
  firstSeen: FirstSeen,
  now: number,
  rules: FoldRules,
): Decision {
  const basis: Basis = { firstSeen, rules };
  const outcomes = new Map<number, MarkOutcome>();
  const arriving = eventsOf(arrivals);
  const open = new Set(
    arrivals.marks.flatMap(({ id }) => (arrivals.judged?.has(id) === true ? [] : id)),
  );
  const verdicts = new Map<number, Mark>();
  const judge = (event: Event, before: Folded): Event => {
    if (event.kind === "seed" || !open.has(event.mark.id)) return event;
    const mark = verdicts.get(event.mark.id) ?? withCaution(event.mark, before, basis);
    verdicts.set(mark.id, mark);
    return { kind: "mark", mark };
  };
  const harms = new Map<number, Harm>();
  const noteHarm = (mark: Mark, was: StationState, is: StationState, at: number): void => {
    const harm = harmOf(mark, was, is, at, rules);
    if (harm !== null) harms.set(mark.id, harm);
  };
  const states: StateAt[] = [];
  const note = (event: Event, { state }: Folded): void => {
    states.push({ at: positionOf(event).at, state });
  };
  let folded: Folded;
  if (facts.history === null) {
    folded = { state: facts.state, opinions: bySeen(facts.opinions, firstSeen) };
    let before = servedAt(folded.state, now, rules);
    for (const [index, arrived] of arriving.entries()) {
      const event = judge(arrived, folded);
      const next = arriving.slice(index + 1).find(({ kind }) => kind === "mark");
      const until = next === undefined ? Number.POSITIVE_INFINITY : positionOf(next).at;
      // Ends before the next event: later states belong to that one.
      const moment = Math.min(now, until);
      const was = folded.state;
      folded = step(folded, event, basis, { counts: true, until });
      note(event, folded);
      if (event.kind === "mark") {
        outcomes.set(event.mark.id, outcomeOf(event.mark, folded, before, moment, basis));
        noteHarm(event.mark, was, folded.state, event.mark.at);
      }
      before = servedAt(folded.state, moment, rules);
    }
  } else {
    const before = servedAt(facts.state, now, rules);
    const known = eventsOf(facts.history);
    const origin = start(facts.state, known);
    // Judge each mark by the marks before it, not by those that arrived in the same batch after it.
    for (const mark of outOfTurn(arrivals.marks)) {
      const earlier = arrivals.marks.filter(({ id }) => id < mark.id);
      const events = eventsOf({
        marks: [...facts.history.marks, ...earlier.map((one) => verdicts.get(one.id) ?? one)],
        seeds: [...facts.history.seeds, ...arrivals.seeds],
      }).filter((event) => order(positionOf(event), mark) < 0);
      judge({ kind: "mark", mark }, foldAll(origin, events, basis, { judge }));
    }
    const events = inOrder([...known, ...arriving]);
    folded = foldAll(origin, events, basis, { judge, note });
    for (const mark of arrivals.marks) {
      outcomes.set(mark.id, outcomeOf(verdicts.get(mark.id) ?? mark, folded, before, now, basis));
      noteHarm(mark, facts.state, folded.state, now);
    }
  }
  const { state, opinions } = folded;
  return { state, opinions: byReporter(opinions), outcomes, harms, states };
}

/** Most marks judged in turn: with more of one station in a transaction, each is judged by all of them. */
const invertedMax = 20;

/** The marks that sort after a mark received later than they were, in order of receipt. */
function outOfTurn(marks: readonly Mark[]): Mark[] {
  const inverted = marks.filter((mark) =>
    marks.some((other) => other.id > mark.id && order(other, mark) < 0),
  );
  return inverted.length > invertedMax ? [] : inverted.toSorted((a, b) => a.id - b.id);
}

const eventsOf = (from: { marks: readonly Mark[]; seeds: readonly Seed[] }): Event[] =>
  inOrder([
    ...from.marks.map((mark): Event => ({ kind: "mark", mark })),
    ...from.seeds.map((seed): Event => ({ kind: "seed", seed })),
  ]);

const inOrder = (events: Event[]): Event[] =>
  events.sort((a, b) => order(positionOf(a), positionOf(b)));

const bySeen = (marks: readonly Mark[], firstSeen: FirstSeen): Mark[] =>
  marks.toSorted((a, b) => firstSeen(a.reporterId) - firstSeen(b.reporterId));

const byReporter = (marks: readonly Mark[]): Map<number, Mark> =>
  new Map(marks.map((mark) => [mark.reporterId, mark]));

/**
 * The start of a refold: empty, except for the age of a status older than every folded event. After a withdrawal the
 * caller must not pass a `lastUpdated` that a withdrawn mark may have set.
 */
const start = (saved: StationState, events: readonly Event[]): Folded => {
  const first = events[0];
  const older =
    saved.lastUpdated !== null && (first === undefined || saved.lastUpdated < positionOf(first).at);
  return {
    state: { ...emptyState, lastUpdated: older ? saved.lastUpdated : null },
    opinions: [],
  };
};

const servedAt = (state: StationState, now: number, rules: FoldRules): ServedStatus =>
  advance(state, now, rules).served?.status ?? "nodata";

function outcomeOf(
  mark: Mark,
  folded: Folded,
  before: ServedStatus,
  now: number,
  basis: Basis,
): MarkOutcome {
  const state = advance(folded.state, now, basis.rules);
  const shown = view(folded.state, now, basis.rules.statusLifetimeMs);
  const live = folded.opinions.filter((opinion) => now < opinion.at + basis.rules.statusLifetimeMs);
  const supporters = supportersAt(mark.status, live, state, now, basis);
  const supports = supporters.some((opinion) => opinion.id === mark.id);
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
  const { needed, rule } = mark;
  const reason = shown.resolution_reason;
  return { outcome: outcome(), status: shown.status, reason, have, needed, rule };
}

const neededForFuel = 2;
const neededForNo = 3;

/**
 * The two lines `caution` of decisions 2.1: a newcomer's mark that contradicts older reporters gets the devices that it
 * then needs; any other mark stays as it is. `before`: the station just before the mark, in the order of marks. Judged
 * once, when the mark is first processed.
 */
function withCaution(mark: Mark, before: Folded, basis: Basis): Mark {
  const { at } = mark;
  const isNew = (one: Mark): boolean =>
    at - basis.firstSeen(one.reporterId) < basis.rules.newcomerMs;
  if (mark.rule === "key-threshold" || !isNew(mark)) return mark;
  const state = advance(before.state, at, basis.rules);
  if (state.served === null || family(state.served.status) === family(mark.status)) return mark;
  const live = before.opinions.filter((one) => at < one.at + basis.rules.statusLifetimeMs);
  const cautious = (needed: number): Mark => ({ ...mark, needed, rule: "caution" });
  if (mark.status === "no") {
    const denied = live.some((one) => family(one.status) === "has" && !isNew(one));
    return denied ? cautious(neededForNo) : mark;
  }
  if (mark.remote) return mark;
  const deniers = supportersOf("no", live, state);
  const isFresh = deniers.some((one) => at - one.at < basis.rules.cautionFreshMs);
  const enough = devices(deniers, at, basis).length >= 2;
  return enough && isFresh && deniers.some((one) => !isNew(one)) ? cautious(neededForFuel) : mark;
}
