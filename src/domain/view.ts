import {
  emptyState,
  type FuelBlock,
  type Seed,
  type Served,
  type StationState,
  type UnservedStatus,
} from "#src/domain/state.ts";
import { formatTime } from "#src/domain/time.ts";
import { grades, type ServedStatus } from "#src/domain/vocabulary.ts";

/** Passes the ends of disputes that lie at or before `now` (ms). */
export function settle(state: StationState, now: number): StationState {
  let settled = state;
  while (settled.next !== null && settled.next.at <= now) settled = settled.next.state;
  return settled;
}

const moreDevices = (a: UnservedStatus, b: UnservedStatus): number =>
  b.count - a.count || b.newest.at - a.newest.at || b.newest.id - a.newest.id;

/** The source of the status that a settled state shows at `now` (ms): people's marks, else an import, else neither. */
function shownOf(
  { served, seeded }: StationState,
  now: number,
  lifetimeMs: number,
): { served: Served | null; seed: Seed | null } {
  if (served !== null && now < served.updated + lifetimeMs) return { served, seed: null };
  const isAlive = seeded !== null && now < seeded.updated + lifetimeMs;
  return { served: null, seed: isAlive ? seeded : null };
}

/** Only the status that `view` shows at `now` (ms). */
export function statusAt(folded: StationState, now: number, lifetimeMs: number): ServedStatus {
  const { served, seed } = shownOf(settle(folded, now), now, lifetimeMs);
  return served?.status ?? seed?.status ?? "nodata";
}

/**
 * The answer to reads from a state at `now` (ms): docs/contract.md 2.2, decisions 2 and 6. `lifetimeMs` is the life of
 * a status, a pending version and a price (24 h).
 */
export function view(folded: StationState, now: number, lifetimeMs: number): FuelBlock {
  const state = settle(folded, now);
  const alive = (at: number): boolean => now < at + lifetimeMs;
  const { served, seed } = shownOf(state, now, lifetimeMs);
  const versions = state.versions.filter((version) => alive(version.newest.at)).sort(moreDevices);
  const pending = versions[0];
  const disputed =
    served === null ? undefined : versions.find((version) => version.disputed !== null);
  const prices = state.prices
    .filter((price) => alive(price.from.at))
    .sort((a, b) => grades.indexOf(a.grade) - grades.indexOf(b.grade))
    .map((price) => `${price.grade}=${price.price.toFixed(2)}`)
    .join(",");
  const updated = served?.updated ?? seed?.updated ?? state.lastUpdated;
  const hasFuel = (served?.status ?? seed?.status ?? "no") !== "no";
  const fuelsNow = served?.details.fuelsNow ?? seed?.fuelsNow ?? [];
  const fuelsNo = served?.details.fuelsNo ?? seed?.fuelsNo ?? [];
  return {
    status: served?.status ?? seed?.status ?? "nodata",
    fuels_now: hasFuel ? fuelsNow.join(",") : "",
    fuels_no: fuelsNo.join(","),
    ...(prices !== "" && (served !== null || seed !== null) ? { prices } : {}),
    queue: hasFuel ? (served?.details.queue ?? "") : "",
    limit_l: served?.details.limitL ?? null,
    no_cash: served?.details.noCash ?? false,
    fuel_cards_only: served?.details.fuelCardsOnly ?? false,
    confirmations: served?.confirmations ?? 0,
    real_count: served?.realCount ?? 0,
    seeded: seed !== null,
    updated: updated === null ? "" : formatTime(updated),
    pending_status: pending?.status ?? "",
    pending_count: pending?.count ?? 0,
    resolution_reason: disputed
      ? "conflict"
      : pending
        ? "unconfirmed"
        : served
          ? "published"
          : "no_data",
    conflict: disputed?.disputed
      ? {
          versions: [disputed.disputed.served, disputed.disputed.challenger].map((side) => ({
            status: side.status,
            count: side.count,
            updated: formatTime(side.updated),
          })),
        }
      : null,
  };
}

/** A fuel block with the chance of fuel in front, where it costs fewest bytes packed; the same while it is unknown. */
export const withChance = (fuel: FuelBlock, chance: number | null | undefined): FuelBlock =>
  chance === null || chance === undefined ? fuel : { chance, ...fuel };

/**
 * Instants (ms, ascending) after the state's last step at which `view` changes by the passing of time: expiry of the
 * status, of pending versions and prices, ends of disputes.
 */
export function transitions(folded: StationState, lifetimeMs: number): number[] {
  const found = new Set<number>();
  let from = Number.NEGATIVE_INFINITY;
  for (let state: StationState | null = folded; state !== null;) {
    const until = state.next?.at ?? Number.POSITIVE_INFINITY;
    const ends = [
      state.served?.updated,
      state.seeded?.updated,
      ...state.versions.map((version) => version.newest.at),
      ...state.prices.map((price) => price.from.at),
    ];
    for (const at of ends) {
      const end = (at ?? Number.NaN) + lifetimeMs;
      if (end >= from && end < until) found.add(end);
    }
    if (state.next !== null) found.add(state.next.at);
    from = until;
    state = state.next?.state ?? null;
  }
  return [...found].sort((a, b) => a - b);
}

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
