import type { Config } from "#src/infrastructure/config.ts";
import { rows, type Statements } from "#src/infrastructure/db.ts";
import { type Arrivals, type Facts, sortsLast } from "#src/domain/decide.ts";
import { subjectOfSource } from "#src/alarms/raise.ts";
import type { Mark } from "#src/domain/state.ts";
import type { FirstSeen } from "#src/domain/devices.ts";
import type { Point } from "#src/domain/geo.ts";
import { readStored } from "#src/feed/stored-state.ts";
import { loadHistory, loadRecent } from "#src/marks/bounded-history.ts";
import { type History, loadFirstSeen, loadHistories, refoldMarks } from "#src/marks/histories.ts";
import {
  markColumns,
  type MarkRow,
  msOf,
  opinionShape,
  readMark,
  recentIds,
  waitingMax,
} from "#src/marks/marks.ts";
import { type Days, idsOfDays, openDays } from "#src/marks/open-days.ts";

/** Where a mark comes from (decisions 1.9). */
export interface Source {
  /** What its changes are counted by. */
  name: string;
  /** For an operator. */
  shown: string;
  /** What the key allows of harmful changes in an hour; null for the map's viewers. */
  limit: number | null;
  /** Its partner is in a launch. */
  isLaunch: boolean;
}

/** Everything `decide` needs to know about one station. */
export interface StationWork {
  stationId: string;
  place: Point;
  facts: Facts & { history: History | null };
  arrivals: Arrivals;
  /**
   * A review, a rollback or an import changed what counts from this time on (ms, 0 for any time): `facts.history` is all
   * that matters since. Null without.
   */
  refoldFrom: number | null;
  /** What was stored of it cannot be read: all that is kept is folded anew, and that is a change. */
  isUnreadable: boolean;
  /** Where the arriving marks come from, by mark id; without what nobody reviews: approved ones, the demo country's. */
  sources: ReadonlyMap<number, Source>;
}

/**
 * Which unprocessed marks: those of these days, or without days the latest ones as of `now` (ms); or only one. How many
 * marks a refold may read.
 */
interface Scope {
  days?: Days;
  now: number;
  only?: number;
  refoldMax: number;
}

export interface Work {
  work: StationWork[];
  firstSeen: FirstSeen;
  now: number;
  /** Stations whose refold needs more marks than `refoldMax`: nothing was taken of them. */
  long: string[];
  /** Stations of which more marks wait than one transaction takes. */
  unfinished: string[];
}

interface ArrivalRow extends MarkRow {
  seen: number | null;
  approved: boolean;
  /** A worker has judged it before, and held it. */
  judged: boolean;
  source: "partner" | "widget" | "demo";
  /** Null for the map's viewers. */
  partner_id: number | null;
  harm_limit: number | null;
  is_launch: boolean | null;
  /** Hex. */
  viewer: string | null;
}

interface StateRow {
  station_id: string;
  place: [lat: number, lon: number];
  state: unknown;
  refold: boolean;
  refold_from: number | null;
  opinions: { mark: Mark; seen: number | null }[] | null;
  arrivals: ArrivalRow[] | null;
  now: number;
}

/**
 * The work at those of the stations that get locked: their unprocessed marks of the scope, and the history where one of
 * the marks does not sort last, or where a review or an import demands it. Call it when the lock has been sent, before
 * it is answered. `now` is the database's time, ms, not before any of the marks.
 */
export async function loadWork(
  tx: Statements,
  stationIds: readonly string[],
  locking: Promise<readonly string[]>,
  scope: Scope,
  config: Config,
): Promise<Work> {
  const [locked, all] = await Promise.all([locking, loadStates(tx, stationIds, scope)]);
  const ours = new Set(locked);
  let states = all.filter((row) => ours.has(row.station_id)).map(readRow);
  // A mark that was approved after days lies in an old partition.
  if (states.some((row) => row.refold))
    states = (await loadStates(tx, locked, { ...scope, days: (await openDays(tx)).flat() })).map(
      readRow,
    );
  const refolds = new Map(
    states.flatMap((row) => (row.refold ? [[row.station_id, refoldFromOf(row)]] : [])),
  );
  const refolded: ReadonlyMap<string, History> =
    refolds.size > 0 ? await loadRefolded(tx, refolds, scope, config) : new Map();
  const work: StationWork[] = [];
  const long: string[] = [];
  const unfinished: string[] = [];
  const seen = new Map<number, number | null>();
  for (const row of states) {
    const { station_id: stationId } = row;
    const refoldFrom = refolds.get(stationId) ?? null;
    const { state } = row;
    const judged = new Set((row.arrivals ?? []).flatMap((one) => (one.judged ? one.id : [])));
    const arrivals = { marks: (row.arrivals ?? []).map(readMark), seeds: [], judged };
    if (arrivals.marks.length === 0 && refoldFrom === null) continue;
    const opinions = (row.opinions ?? []).map(({ mark }) => mark);
    for (const one of row.arrivals ?? []) seen.set(one.reporter_id, one.seen);
    for (const one of row.opinions ?? []) seen.set(one.mark.reporterId, one.seen);
    const history =
      refolded.get(stationId) ??
      (sortsLast(state, arrivals)
        ? null
        : await loadHistory(tx, stationId, state, arrivals, config, false, scope.refoldMax));
    if (history?.isCut === true && scope.refoldMax < refoldMarks) {
      long.push(stationId);
      continue;
    }
    if (arrivals.marks.length === waitingMax) unfinished.push(stationId);
    const [lat, lon] = row.place;
    work.push({
      stationId,
      place: { lat, lon },
      facts: { state, opinions, history },
      arrivals,
      refoldFrom,
      isUnreadable: row.isUnreadable,
      sources: new Map(
        (row.arrivals ?? []).flatMap((one) =>
          one.source === "demo" || one.approved ? [] : [[one.id, sourceOf(one)]],
        ),
      ),
    });
  }
  const past = new Set(
    work.flatMap(({ facts }) => facts.history?.marks.map((mark) => mark.reporterId) ?? []),
  );
  for (const id of seen.keys()) past.delete(id);
  const ofHistory = past.size > 0 ? await loadFirstSeen(tx, past) : null;
  for (const id of past) seen.set(id, ofHistory!(id));
  return {
    work,
    firstSeen: (id) => seen.get(id) ?? 0,
    now: Math.max(...states.map((row) => row.now)),
    long,
    unfinished,
  };
}

/** What a fold has left behind, if it can be read; else the station is folded anew from its marks. */
function readRow(row: StateRow) {
  const { state, fault } = readStored(row.state);
  const isUnreadable =
    fault !== null || (row.opinions ?? []).some(({ mark }) => opinionShape(mark) !== null);
  return isUnreadable
    ? { ...row, state, opinions: null, refold: true, refold_from: null, isUnreadable }
    : { ...row, state, isUnreadable };
}

/** From when on the station is folded anew, ms: not after the marks that come in with it. 0 when nobody knows. */
const refoldFromOf = ({
  refold_from: asked,
  arrivals,
}: Pick<StateRow, "refold_from" | "arrivals">): number =>
  asked === null ? 0 : Math.min(asked, ...(arrivals ?? []).map(({ at }) => at));

/** The histories of these stations (from when on they change, ms): back to the last gap before that, or all that is kept. */
async function loadRefolded(
  tx: Statements,
  refolds: ReadonlyMap<string, number>,
  { now, refoldMax: max }: Scope,
  config: Config,
): Promise<Map<string, History>> {
  const whole = [...refolds.keys()].filter((id) => refolds.get(id) === 0);
  const since = [...refolds.keys()].filter((id) => refolds.get(id) !== 0);
  return new Map([
    ...(await loadHistories(tx, whole, 0, "processed", { max })),
    ...(await loadRecent(tx, since, config, now, refolds, "processed", { max })),
  ]);
}

/** A map's viewers are their network, whichever key the map has; a partner is its secret keys'. */
function sourceOf({ partner_id, harm_limit, is_launch, viewer }: ArrivalRow): Source {
  const shown = subjectOfSource(viewer, partner_id);
  return viewer === null
    ? { name: shown, shown, limit: harm_limit, isLaunch: is_launch === true }
    : { name: `network ${viewer}`, shown, limit: null, isLaunch: false };
}

/** Everything about the stations in one statement, because each statement costs a job time. */
const loadStates = (
  tx: Statements,
  stationIds: readonly string[],
  { days, now, only }: Scope,
): Promise<StateRow[]> =>
  rows<StateRow>(
    tx,
    `select s.station_id, s.state, s.refold, ${msOf("s.refold_from")} as refold_from, ${msOf("steady_now()")} as now,
       (select array[lat, lon] from stations where id = s.station_id) as place,
       (select json_agg(json_build_object('mark', o.mark, 'seen', ${msOf("r.first_seen")}))
        from opinions o join reporters r on r.id = o.reporter_id where o.station_id = s.station_id) as opinions,
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
          where station_id = s.station_id and processed_at is null and failed_at is null
            and ${days === undefined ? recentIds(now) : idsOfDays(days)} and id = coalesce(?::bigint, id)
          order by id limit ${waitingMax}) a) as arrivals
     from station_status s where s.station_id = any(?::text[]) order by s.station_id`,
    [only ?? null, stationIds],
    // A plan over old partitions is not worth keeping.
    days === undefined ? "load_states" : undefined,
  );
