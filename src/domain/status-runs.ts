import { emptyState, type StationState } from "#src/domain/state.ts";
import { statusAt, transitions } from "#src/domain/view.ts";
import type { ServedStatus } from "#src/domain/vocabulary.ts";

/** A station's state from `at` (ms) on, until its next event. */
export interface StateAt {
  at: number;
  state: StationState;
}

/** A time in which a station served one status, ms; `to` is null while it still does. */
export interface StatusRun {
  status: ServedStatus;
  from: number;
  to: number | null;
}

/** The runs of a station from `since` (ms) on; the first may only continue the run before it. */
export interface RunsSince {
  since: number;
  /** Before this (ms) the runs equal those that were served already; `since` by default. */
  changesFrom?: number;
  runs: readonly StatusRun[];
}

/**
 * The status runs (decisions 2.36) from `since` to `until` (ms): gapless, ascending, neighbours differ, the last one
 * open. `states` are in order; before the first of them the station was as in `before`. Changes by the passing of time
 * begin and end runs at their own instants.
 */
export function statusRuns(
  { before, states }: { before: StationState; states: readonly StateAt[] },
  since: number,
  until: number,
  lifetimeMs: number,
): StatusRun[] {
  const runs: StatusRun[] = [];
  const put = (from: number, status: ServedStatus): void => {
    // The last of several events of one instant counts.
    if (runs.at(-1)?.from === from) runs.pop();
    const last = runs.at(-1);
    if (last !== undefined) last.to = last.status === status ? null : from;
    if (last?.status !== status) runs.push({ status, from, to: null });
  };
  const first = states.findLastIndex(({ at }) => at <= since);
  const start = { at: since, state: states[first]?.state ?? before };
  const pieces = [start, ...states.slice(first + 1).filter(({ at }) => at <= until)];
  for (const [index, { at, state }] of pieces.entries()) {
    put(at, statusAt(state, at, lifetimeMs));
    const end = pieces[index + 1]?.at ?? until + 1;
    for (const instant of transitions(state, lifetimeMs))
      if (instant > at && instant < end) put(instant, statusAt(state, instant, lifetimeMs));
  }
  return runs;
}

/**
 * The stored runs that the events of a fold change by `now` (ms); null when they change nothing. `saved` is the state
 * that was stored before, `states` those after each event, `earliest` (ms) the first event that is new.
 */
export function runsChangedBy(
  {
    saved,
    states,
    earliest,
  }: { saved: StationState; states: readonly StateAt[]; earliest: number },
  now: number,
  lifetimeMs: number,
): RunsSince | null {
  const since = Math.min(saved.last?.at ?? earliest, earliest);
  const runs = statusRuns({ before: saved, states }, since, now, lifetimeMs);
  // A late event may also undo runs that were stored.
  const isLate = since < (saved.last?.at ?? earliest);
  if (isLate || runs.length > 1) return { since, changesFrom: earliest, runs };
  // The status may have changed by the passing of time, and those runs may be stored or not.
  const unchanged = statusRuns({ before: saved, states: [] }, since, now, lifetimeMs);
  return unchanged.length === 1 && unchanged[0]!.status === runs[0]!.status
    ? null
    : { since, changesFrom: earliest, runs };
}

/**
 * The runs of a station whose events from `from` (ms, 0 for any time) on were folded anew. An earlier run stays as
 * stored, except for an end by the passing of time since `saved`, the state stored before. `states` are those since the
 * last gap of a lifetime before `from`; the runs begin at `keptSince` at the earliest.
 */
export function runsOfRefold(
  { saved, states, from }: { saved: StationState; states: readonly StateAt[]; from: number },
  keptSince: number,
  now: number,
  lifetimeMs: number,
): RunsSince {
  const isOlder = saved.last !== null && saved.last.at < from;
  const since = Math.max(isOlder ? saved.last!.at : from, keptSince);
  const before = isOlder ? saved : emptyState;
  const runs = statusRuns({ before, states }, since, now, lifetimeMs);
  return { since, changesFrom: Math.max(from, since), runs };
}

/** Stored runs of a station at `now` (ms), with the changes by the passing of time that are not stored yet. */
export function withTimePassed(
  stored: readonly StatusRun[],
  state: StationState,
  now: number,
  lifetimeMs: number,
): StatusRun[] {
  if (state.last === null) return [...stored];
  const sinceLast = { before: state, states: [] };
  const [, ...later] = statusRuns(sinceLast, state.last.at, now, lifetimeMs);
  const change = later[0]?.from;
  if (change === undefined) return [...stored];
  const earlier = stored.filter(({ from }) => from < change);
  const last = earlier.pop();
  return [...earlier, ...(last === undefined ? [] : [{ ...last, to: change }]), ...later];
}

/**
 * A station's runs within a time, without gaps: `nodata` where no run is known. `to` is null for a run that continues
 * after the end. Times in ms; empty for an empty time.
 */
export function runsWithin(runs: readonly StatusRun[], from: number, to: number): StatusRun[] {
  const found: StatusRun[] = [];
  let end = from;
  const put = (run: StatusRun): void => {
    const last = found.at(-1);
    if (last?.status === run.status) last.to = run.to;
    else found.push(run);
  };
  for (const run of runs) {
    const begin = Math.max(run.from, from);
    const stop = Math.min(run.to ?? Infinity, to);
    if (begin >= stop) continue;
    if (begin > end) put({ status: "nodata", from: end, to: begin });
    put({ status: run.status, from: begin, to: stop });
    end = stop;
  }
  if (end < to) put({ status: "nodata", from: end, to });
  const last = found.at(-1);
  if (last !== undefined) last.to = null;
  return found;
}
