import { type Arrivals, decide, type Decision, type Facts, sortsLast } from "#src/domain/decide.ts";
import type { Point } from "#src/domain/geo.ts";
import { emptyState, type Mark, type Position } from "#src/domain/state.ts";
import { readStored } from "#src/feed/feed.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { rows, type Statements } from "#src/infrastructure/db.ts";
import {
  type History,
  loadFirstSeen,
  loadHistories,
  loadRecent,
  refoldMarks,
} from "#src/marks/histories.ts";
import {
  idAfter,
  markColumns,
  type MarkRow,
  markShape,
  msOf,
  opinionShape,
  readMark,
  recentIds,
  waitingMax,
} from "#src/marks/marks.ts";
import type { FirstSeen } from "#src/domain/devices.ts";
import { dayMs } from "#src/domain/units.ts";
import { lastServedUntil } from "#src/marks/stored-runs.ts";

/** The source of a mark (decisions 1.9). */
export interface Source {
  /** The network of a viewer of the map, hex; null for a partner's mark. */
  viewer: string | null;
  partnerId: number | null;
  /** The key's limit of harmful changes in an hour; null for the map's viewers. */
  limit: number | null;
  /** True while its partner is in a launch. */
  isLaunch: boolean;
}

/** The facts of one station for folding marks into it. */
export interface StationFacts {
  stationId: string;
  place: Point;
  facts: Facts & { history: History | null };
  /** The unprocessed marks. */
  arrivals: Arrivals;
  /**
   * Time from which a review, a rollback or an import changed the counting events (ms, 0 for any time); `facts.history`
   * covers it. Null without such a change.
   */
  refoldFrom: number | null;
  /**
   * Marks are here that belong to another station, because an operator or an import has joined two or taken them apart
   * (decisions 14.30).
   */
  isMoving: boolean;
  /** The stored state cannot be read: all kept marks are folded anew, and that is a change. */
  isUnreadable: boolean;
  /** The sources of arriving marks, by mark id; absent without a review: approved marks, the demo country's. */
  sources: ReadonlyMap<number, Source>;
}

/** The arriving marks to read. */
export interface Reach {
  /** Reads all unprocessed marks; without it those of the latest days as of `now`. */
  all?: true;
  /** ms. */
  now: number;
  /** Id of the only unprocessed mark to read. */
  only?: number;
  /** Most marks of a station that a refold may read. */
  refoldMax?: number;
  /**
   * Marks by station that are not stored and come after the unprocessed ones: the history is loaded if one of them
   * needs it. Unreadable unprocessed marks are then left out, as a worker would set them aside.
   */
  coming?: ReadonlyMap<string, readonly Position[]>;
}

interface ArrivalRow extends MarkRow {
  seen: number | null;
  approved: boolean;
  /** True if a worker has judged it before, and held it. */
  judged: boolean;
  source: "partner" | "widget" | "demo";
  /** Null for the map's viewers. */
  partner_id: number | null;
  harm_limit: number | null;
  is_launch: boolean | null;
  /** Hex. */
  viewer: string | null;
}

interface StationRow {
  station_id: string;
  place: Point;
  state: unknown;
  refold: boolean | null;
  refold_from: number | null;
  opinions: { mark: Mark; seen: number | null }[] | null;
  is_part: boolean;
  is_moving: boolean;
  arrivals: ArrivalRow[] | null;
  now: number;
}

/**
 * The facts of these stations for `decideStation`, the same for the marks worker, a dry run and a confirmation: their
 * unprocessed marks, and the history if a mark does not sort last, or a review or an import needs it. With `locking`,
 * only the stations that get locked: call it after the lock was sent, before its answer. `firstSeen`: ms, of all
 * reporters in it. `now` is the database's time, ms, not before any stored mark.
 */
export async function loadStationFacts(
  tx: Statements,
  stationIds: readonly string[],
  reach: Reach,
  config: Config,
  locking: Promise<readonly string[]> | readonly string[] = stationIds,
): Promise<{ stations: StationFacts[]; firstSeen: Map<number, number>; now: number }> {
  const [locked, all] = await Promise.all([locking, loadRows(tx, stationIds, reach)]);
  const ours = new Set(locked);
  const read = (some: readonly StationRow[]) =>
    some.flatMap((row) => (ours.has(row.station_id) ? readRow(row, reach) : []));
  let found = read(all);
  // A mark may have been approved after days.
  if (found.some(({ refold }) => refold))
    found = read(await loadRows(tx, locked, { ...reach, all: true }));
  const changes = new Map(
    found.flatMap(({ station, changedFrom }) =>
      changedFrom === null ? [] : [[station.stationId, changedFrom]],
    ),
  );
  const histories = await loadChanged(tx, changes, reach, config);
  for (const { station } of found) station.facts.history = histories.get(station.stationId) ?? null;
  const firstSeen = new Map(found.flatMap(({ seen }) => seen));
  const past = [...histories.values()]
    .flatMap(({ marks }) => marks)
    .filter(({ reporterId }) => !firstSeen.has(reporterId));
  const seenAt = past.length > 0 ? await loadFirstSeen(tx, past) : null;
  for (const { reporterId } of past) firstSeen.set(reporterId, seenAt!(reporterId));
  const stations = found.map(({ station }) => station);
  return { stations, firstSeen, now: Math.max(...found.map((one) => one.now)) };
}

/**
 * A station without its history. `changedFrom`: time (ms) from which the history must be folded anew, null without a
 * refold. `seen`: first-seen times of the reporters in its row.
 */
function readRow(row: StationRow, { coming }: Reach) {
  const { station_id: stationId, place, now } = row;
  const { state, fault } = readStored(row.state);
  const isUnreadable =
    fault !== null || (row.opinions ?? []).some(({ mark }) => opinionShape(mark) !== null);
  const opinions = isUnreadable ? [] : (row.opinions ?? []);
  const arriving = (row.arrivals ?? []).filter((one) => !coming || markShape(one) === null);
  const judged = new Set(arriving.flatMap((one) => (one.judged ? one.id : [])));
  const arrivals = { marks: arriving.map(readMark), seeds: [], judged };
  const reviewed = arriving.filter((one) => one.source !== "demo" && !one.approved);
  const refold = row.refold === true || isUnreadable;
  const all = { marks: [...arrivals.marks, ...(coming?.get(stationId) ?? [])], seeds: [] };
  // A refold begins at the arriving marks at the latest, and at 0 if the time is unknown.
  const earliest = Math.min(...all.marks.map(({ at }) => at));
  const asked = isUnreadable ? 0 : (row.refold_from ?? 0);
  const changedFrom = refold ? Math.min(asked, earliest) : sortsLast(state, all) ? null : earliest;
  const station: StationFacts = {
    ...{ stationId, place, arrivals, isUnreadable },
    isMoving: row.is_moving || (row.is_part && arrivals.marks.length > 0),
    facts: { state, opinions: opinions.map(({ mark }) => mark), history: null },
    refoldFrom: refold ? changedFrom : null,
    sources: new Map(reviewed.map((one) => [one.id, sourceOf(one)])),
  };
  const seen = [
    ...opinions.map((one) => [one.mark.reporterId, one.seen ?? 0] as const),
    ...arriving.map((one) => [one.reporter_id, one.seen ?? 0] as const),
  ];
  return { station, changedFrom, refold, seen, now };
}

/** Histories of stations, by the time (ms) of their first change: back to the last gap before it, or whole. */
async function loadChanged(
  tx: Statements,
  changes: ReadonlyMap<string, number>,
  { now, refoldMax: max = refoldMarks }: Reach,
  config: Config,
): Promise<Map<string, History>> {
  if (changes.size === 0) return new Map();
  const whole = [...changes.keys()].filter((id) => changes.get(id) === 0);
  const since = [...changes.keys()].filter((id) => changes.get(id) !== 0);
  return new Map([
    ...(await loadHistories(tx, whole, 0, "processed", { max })),
    ...(await loadRecent(tx, since, config, now, { changing: changes, which: "processed", max })),
  ]);
}

/** The source of the map's viewers is their network, with any key of the map; that of other marks is their partner. */
const sourceOf = ({ partner_id: partnerId, harm_limit, is_launch, viewer }: ArrivalRow): Source =>
  viewer === null
    ? { viewer, partnerId, limit: harm_limit, isLaunch: is_launch === true }
    : { viewer, partnerId, limit: null, isLaunch: false };

/** All facts about the stations in one statement, because each statement costs time. */
function loadRows(
  tx: Statements,
  stationIds: readonly string[],
  { all, now, only }: Reach,
): Promise<StationRow[]> {
  const isUsual = only === undefined && all === undefined;
  const which = isUsual ? recentIds(now) : only === undefined ? "true" : `id = ${only}`;
  return rows<StationRow>(
    tx,
    `select asked.id as station_id, s.state, s.refold, ${msOf("s.refold_from")} as refold_from, (select ${msOf("steady_now()")}) as now,
       (select json_build_object('lat', lat, 'lon', lon) from stations where id = asked.id) as place,
       exists (select from station_pairs where station_id = asked.id and verdict = 'joined') as is_part,
       exists (select from station_pairs where moving
           and (station_id = asked.id and verdict = 'joined' or into_id = asked.id and verdict = 'apart')) as is_moving,
       (select json_agg(json_build_object('mark', o.mark, 'seen', ${msOf("r.first_seen")}))
        from opinions o join reporters r on r.id = o.reporter_id where o.station_id = asked.id) as opinions,
       (select json_agg(a) from (
          select ${markColumns}, (select ${msOf("first_seen")} from reporters r where r.id = reporter_id) as seen,
            review = 'approved' as approved, coalesce(held_reason in ('source', 'city'), false) as judged, source, partner_id, encode(viewer, 'hex') as viewer,
            k.harm_limit, k.is_launch
          from marks left join lateral (
            select case when k.limited_until > server_now() then k.limited_to
                when l.is_launch then greatest(p.launch_limit, k.mass_no_limit) else k.mass_no_limit end as harm_limit,
              l.is_launch
            from keys k join partners p on p.id = k.partner_id
            cross join lateral (select coalesce(p.launch_until > server_now(), false) as is_launch) l
            where k.id = key_id) k on true
          where station_id = asked.id and processed_at is null and failed_at is null
            and ${which}
          order by id limit ${waitingMax}) a) as arrivals
     from unnest(?::text[]) as asked (id) left join lateral (
       -- The limit makes it one probe of the index each.
       select * from station_status where station_id = asked.id limit 1) s on true
     order by asked.id`,
    [[...new Set(stationIds)]],
    isUsual ? "load_states" : undefined,
  );
}

/** The facts of a station that `decideStation` needs. */
type Work = Pick<StationFacts, "stationId" | "facts" | "arrivals" | "refoldFrom">;

/**
 * `decide` for a station as `loadStationFacts` gives it, the same for the marks worker and a dry run. Reads the age of
 * the last served status if it is older than the loaded marks. `firstSeen` and `now` in ms.
 */
export async function decideStation(
  tx: Statements,
  work: Work,
  firstSeen: ReadonlyMap<number, number>,
  now: number,
  config: Config,
): Promise<Decision> {
  const { stationId, arrivals, refoldFrom } = work;
  const facts =
    refoldFrom === null ? work.facts : withoutLaterAge(work.facts, refoldFrom, now, config);
  const seenAt: FirstSeen = (id) => firstSeen.get(id) ?? 0;
  const decision = decide(facts, arrivals, seenAt, now, config);
  if (facts.history === null || decision.state.lastUpdated !== null) return decision;
  // That age is older than the gap at which the history starts, unless all was read or nothing was ever served.
  if (refoldFrom === 0 || work.facts.state.lastUpdated === null) return decision;
  const earlier = await lastUpdatedBefore(tx, work, now, config);
  if (earlier === null) return decision;
  if (earlier !== "unknown") {
    const state = { ...facts.state, lastUpdated: earlier };
    return decide({ ...facts, state }, arrivals, seenAt, now, config);
  }
  const history = (await loadHistories(tx, [stationId], 0, "processed")).get(stationId)!;
  const seenEarlier = await loadFirstSeen(tx, history.marks);
  const seenAll: FirstSeen = (id) => firstSeen.get(id) ?? seenEarlier(id);
  return decide({ ...facts, history }, arrivals, seenAll, now, config);
}

/**
 * The age, ms, of the status that the station served last before all current changes, folded from the marks of that
 * time. Null when it served none before, "unknown" when the runs do not tell.
 */
async function lastUpdatedBefore(
  tx: Statements,
  { stationId, arrivals, refoldFrom }: Work,
  now: number,
  config: Config,
): Promise<number | null | "unknown"> {
  const times = arrivals.marks.map(({ at }) => at);
  const changedFrom = Math.min(refoldFrom ?? Number.POSITIVE_INFINITY, ...times);
  const at = await lastServedUntil(tx, stationId, changedFrom);
  // Runs that are kept for a shorter time than marks do not cover all marks.
  if (at === null) return config.runsDays < config.retentionDays ? "unknown" : null;
  const histories = await loadRecent(tx, [stationId], config, at, {
    changing: new Map([[stationId, at]]),
    which: "processed",
    // A mark is received a lifetime after its moment at the latest.
    until: { at, idBelow: idAfter(at + config.statusLifetimeMs) },
  });
  const history = histories.get(stationId)!;
  const facts = { state: emptyState, opinions: [], history };
  const seenAt = await loadFirstSeen(tx, history.marks);
  return (
    decide(facts, { marks: [], seeds: [] }, seenAt, now, config).state.lastUpdated ?? "unknown"
  );
}

/**
 * A refold must not keep the age of a status that a withdrawn mark had set. An age before `refoldFrom` (ms), or before
 * all kept marks, is certain.
 */
function withoutLaterAge(facts: Facts, refoldFrom: number, now: number, config: Config): Facts {
  const sureUntil = Math.max(refoldFrom, now - config.retentionDays * dayMs);
  const { lastUpdated } = facts.state;
  return lastUpdated === null || lastUpdated < sureUntil
    ? facts
    : { ...facts, state: { ...facts.state, lastUpdated: null } };
}
