import { detailsOf, mergePrices, noDetails } from "#src/domain/details.ts";
import {
  type Basis,
  devices,
  judgeDispute,
  type Verdict,
  verdictInstants,
} from "#src/domain/devices.ts";
import type { FoldRules } from "#src/domain/rules.ts";
import {
  type Mark,
  type Position,
  type Seed,
  type Served,
  type StationState,
  type UnservedStatus,
  order,
} from "#src/domain/state.ts";
import { settle } from "#src/domain/view.ts";
import { family, type Status, statuses } from "#src/domain/vocabulary.ts";

/**
 * The fold's value between marks: the state, and each reporter's live opinion, sorted by first seen. Devices are
 * counted in that order, so that they need no sorting.
 */
export interface Folded {
  state: StationState;
  opinions: readonly Mark[];
}

/** The parts of a step that are needed: its counts or not, and ends of disputes up to a time (ms). */
interface Look {
  counts: boolean;
  until: number;
}

const everything: Look = { counts: true, until: Number.POSITIVE_INFINITY };

export type Event = { kind: "mark"; mark: Mark } | { kind: "seed"; seed: Seed };

export const positionOf = (event: Event): Position =>
  event.kind === "mark" ? event.mark : { at: event.seed.importedAt, id: 0 };

/** The state at `at` (ms): disputes that have ended by then are settled, and expired parts are dropped. */
export function advance(folded: StationState, at: number, rules: FoldRules): StationState {
  const state = settle(folded, at);
  const alive = (from: number): boolean => at < from + rules.statusLifetimeMs;
  return {
    ...state,
    served: state.served !== null && alive(state.served.updated) ? state.served : null,
    seeded: state.seeded !== null && alive(state.seeded.updated) ? state.seeded : null,
    versions: state.versions.filter((version) => alive(version.newest.at)),
    prices: state.prices.filter((price) => alive(price.from.at)),
    publications: Object.fromEntries(
      Object.entries(state.publications).filter(([, position]) => alive(position.at)),
    ),
  };
}

const earliest: Position = { at: Number.NEGATIVE_INFINITY, id: 0 };

/** Supporters of `status` (decisions 2): opinions of it after the last publication of a different status. */
export function supportersOf(status: Status, live: readonly Mark[], state: StationState): Mark[] {
  const last = statuses
    .flatMap((other) => (other === status ? [] : (state.publications[other] ?? [])))
    .reduce((a, b) => (order(a, b) < 0 ? b : a), earliest);
  return live.filter((mark) => mark.status === status && order(last, mark) < 0);
}

/**
 * The supporters that count at `at`, ms: all of them for the served status; newcomers help to publish a `no` only for a
 * while (decisions 2.44).
 */
export function supportersAt(
  status: Status,
  live: readonly Mark[],
  state: StationState,
  at: number,
  basis: Basis,
): Mark[] {
  const supporters = supportersOf(status, live, state);
  if (status !== "no" || state.served?.status === "no") return supporters;
  const isNewcomers = ({ rule, at: made, reporterId }: Mark): boolean =>
    rule !== "key-threshold" && made - basis.firstSeen(reporterId) < basis.rules.newcomerMs;
  return supporters.filter((mark) => at - mark.at < basis.rules.newcomerNoMs || !isNewcomers(mark));
}

/**
 * The fold over events in order. It counts and gives details only for the last mark, and looks for ends of disputes
 * only up to the next mark: without the rest a step of a long refold is some ten times cheaper.
 */
export function foldAll(
  origin: Folded,
  events: readonly Event[],
  basis: Basis,
  { judge, note }: Partial<Hooks> = {},
): Folded {
  const looks = looksAt(events);
  return events.reduce((before, come, index) => {
    const event = judge?.(come, before) ?? come;
    const folded = step(before, event, basis, looks[index]);
    note?.(event, folded);
    return folded;
  }, origin);
}

interface Hooks {
  /** Gives the event as it counts, from the fold before it. */
  judge: (event: Event, before: Folded) => Event;
  /** Called with each event and the fold after it. */
  note: (event: Event, after: Folded) => void;
}

/** The parts that are needed of each event, up to the mark that follows it. */
function looksAt(events: readonly Event[]): Look[] {
  const looks: Look[] = [];
  let look = everything;
  for (const event of events.toReversed()) {
    looks.push(look);
    if (event.kind === "mark") look = { counts: false, until: event.mark.at };
  }
  return looks.reverse();
}

/** One step of the fold: a mark or an import, at its own moment. Events must come in order. */
export function step(folded: Folded, event: Event, basis: Basis, look = everything): Folded {
  const position = positionOf(event);
  const last = { at: position.at, id: position.id };
  const before = advance(folded.state, position.at, basis.rules);
  if (event.kind === "seed") {
    const { seed } = event;
    const taken = acceptSeed(before, seed, basis.rules)
      ? { seeded: seed, lastUpdated: seed.updated }
      : {};
    return { state: { ...before, ...taken, last }, opinions: folded.opinions };
  }
  const opinions = withOpinion(folded.opinions, event.mark, basis);
  const state = touch({ ...before, last }, opinions, position.at, event.mark, basis, look);
  return { state, opinions };
}

/** The live opinions once `mark` is its reporter's: the newest `opinionsMax` of the station (decisions 2.40). */
function withOpinion(opinions: readonly Mark[], mark: Mark, basis: Basis): Mark[] {
  const live = opinions.filter(
    (one) => one.reporterId !== mark.reporterId && mark.at < one.at + basis.rules.statusLifetimeMs,
  );
  const seen = basis.firstSeen(mark.reporterId);
  const index = live.findIndex((one) => seen < basis.firstSeen(one.reporterId));
  live.splice(index === -1 ? live.length : index, 0, mark);
  if (live.length > basis.rules.opinionsMax) live.splice(live.indexOf(oldestOf(live)), 1);
  return live;
}

const oldestOf = (marks: readonly Mark[]): Mark =>
  marks.reduce((oldest, mark) => (order(mark, oldest) < 0 ? mark : oldest));

const newestOf = (marks: readonly Mark[]): Mark =>
  marks.reduce((newest, mark) => (order(newest, mark) < 0 ? mark : newest));

/** An import never replaces a live human status, nor a newer import (decisions 6). */
const acceptSeed = (state: StationState, seed: Seed, rules: FoldRules): boolean =>
  state.served === null &&
  seed.importedAt < seed.updated + rules.statusLifetimeMs &&
  (state.seeded === null || state.seeded.updated <= seed.updated);

/** Computes the state anew at `at`, after `arriving` became an opinion, or (null) because a dispute may have ended. */
function touch(
  before: StationState,
  live: readonly Mark[],
  at: number,
  arriving: Mark | null,
  basis: Basis,
  look: Look,
): StationState {
  const state = resolve(before, live, at, arriving, basis, look);
  return state.versions.some((version) => version.disputed !== null)
    ? { ...state, next: nextByTime(state, live, at, basis, look) }
    : state;
}

/** The same without a look ahead. */
function resolve(
  before: StationState,
  live: readonly Mark[],
  at: number,
  arriving: Mark | null,
  basis: Basis,
  look: Look,
): StationState {
  let state: StationState = { ...before, next: null };
  const disputes = new Map<Status, NonNullable<UnservedStatus["disputed"]>>();
  const wasDisputed = [...before.versions]
    .filter((version) => version.disputed !== null && version.status !== arriving?.status)
    .sort((a, b) => b.count - a.count || order(b.newest, a.newest))
    .map((version) => version.status);
  for (const status of arriving === null ? wasDisputed : [arriving.status, ...wasDisputed]) {
    if (status === state.served?.status) continue;
    const supporters = supportersAt(status, live, state, at, basis);
    const verdict = verdictOn(status, supporters, { state, live, at }, basis);
    if (verdict === null) continue;
    if (verdict.kind === "disputed")
      disputes.set(status, { served: verdict.served, challenger: verdict.challenger });
    else if (status === arriving?.status || verdict.kind === "challenger-wins") {
      // Expiry at a time comes before the marks of that time.
      state = publish(state, status, supporters, arriving ?? { at, id: 0 });
      disputes.clear();
    }
  }
  return recount(state, live, disputes, { arriving, at }, basis, look);
}

/** Decides whether a version that is not served may be published; null if it has too few devices. */
function verdictOn(
  status: Status,
  supporters: readonly Mark[],
  { state, live, at }: { state: StationState; live: readonly Mark[]; at: number },
  basis: Basis,
): Verdict | null {
  if (supporters.length === 0) return null;
  const needed = Math.min(...supporters.map((mark) => mark.needed));
  if (!hasDevices(supporters, needed, at, basis)) return null;
  const rival = state.served?.status ?? null;
  // A dispute whose served side has expired ends in the same way, without a rival.
  return needed < 2 || rival === null || family(status) === family(rival)
    ? loneVerdict(supporters, at, basis)
    : judgeDispute({ at, served: rival, status, supporters, live }, basis);
}

/** True if the supporters are at least `needed` devices. One supporter is one device, without counting. */
const hasDevices = (
  supporters: readonly Mark[],
  needed: number,
  at: number,
  basis: Basis,
): boolean =>
  supporters.length >= needed && (needed <= 1 || devices(supporters, at, basis).length >= needed);

const loneVerdict = (supporters: readonly Mark[], at: number, basis: Basis): Verdict => {
  const recent = supporters.filter((mark) => at - mark.at < basis.rules.disputeWindowMs);
  const faded = devices(recent, at, basis).length < 2;
  return { kind: faded ? "challenger-faded" : "challenger-wins" };
};

/** Publishing clears every other version: they started before it. An imported status gives way. */
function publish(
  state: StationState,
  status: Status,
  supporters: readonly Mark[],
  position: Position,
): StationState {
  const updated = supporters.reduce((newest, mark) => Math.max(newest, mark.at), 0);
  const served: Served = {
    status,
    updated,
    confirmations: 0,
    realCount: 0,
    details: noDetails,
  };
  return {
    ...state,
    served,
    seeded: null,
    lastUpdated: updated,
    publications: { ...state.publications, [status]: { at: position.at, id: position.id } },
  };
}

/**
 * Counts, details and pending versions (decisions 2), anew at each change of a station. Without `look.counts` they stay
 * 0 and empty, except the counts of disputed versions, which the next step uses.
 */
function recount(
  state: StationState,
  live: readonly Mark[],
  disputes: ReadonlyMap<Status, NonNullable<UnservedStatus["disputed"]>>,
  { arriving, at }: { arriving: Mark | null; at: number },
  basis: Basis,
  look: Look,
): StationState {
  const count = (marks: readonly Mark[]): number => devices(marks, at, basis).length;
  let { served, prices, lastUpdated } = state;
  if (served !== null) {
    const supporters = supportersOf(served.status, live, state);
    const counts =
      arriving !== null &&
      arriving.status === served.status &&
      hasDevices(supporters, arriving.needed, at, basis);
    const updated = counts ? Math.max(served.updated, arriving.at) : served.updated;
    served = {
      status: served.status,
      updated,
      confirmations: supporters.length,
      realCount: look.counts ? count(supporters) : 0,
      details: look.counts ? detailsOf(supporters, count) : noDetails,
    };
    prices = mergePrices(prices, supporters, count, basis.rules);
    lastUpdated = updated;
  }
  const versions = statuses.flatMap((status): UnservedStatus[] => {
    const supporters =
      status === served?.status ? [] : supportersAt(status, live, state, at, basis);
    if (supporters.length === 0) return [];
    const newest = newestOf(supporters);
    const disputed = disputes.get(status) ?? null;
    const counted = look.counts || disputed !== null ? count(supporters) : 0;
    return [{ status, count: counted, newest: { at: newest.at, id: newest.id }, disputed }];
  });
  return { ...state, served, prices, lastUpdated, versions };
}

/** The moment at which time ends a dispute of this state, and the state from then on; null if none within the look. */
function nextByTime(
  state: StationState,
  live: readonly Mark[],
  at: number,
  basis: Basis,
  look: Look,
): StationState["next"] {
  const expiry = state.served === null ? [] : [state.served.updated + basis.rules.statusLifetimeMs];
  const ends = [...verdictInstants(live, at, look.until, basis), ...expiry];
  const instants = [...new Set(ends)].sort((a, b) => a - b);
  for (const instant of instants) {
    const aged = live.filter((mark) => instant < mark.at + basis.rules.statusLifetimeMs);
    const before = advance({ ...state, next: null }, instant, basis.rules);
    const isOver = ({ status, disputed }: UnservedStatus): boolean =>
      disputed !== null &&
      verdictOn(
        status,
        supportersAt(status, aged, before, instant, basis),
        { state: before, live: aged, at: instant },
        basis,
      )?.kind !== "disputed";
    if (state.versions.some(isOver))
      return { at: instant, state: touch(before, aged, instant, null, basis, look) };
  }
  return null;
}
