import type { Sentence } from "#src/contract/sentences.ts";
import { type Alarm, raiseAlarms, subjectOfSource } from "#src/alarms/raise.ts";
import type { HarmfulChange } from "#src/alarms/harmful-counts.ts";
import type { Decision } from "#src/domain/decide.ts";
import type { FirstSeen } from "#src/domain/devices.ts";
import {
  cityLimitOf,
  type Harm,
  hoursADay,
  isFirstByNewcomer,
  type Ledger,
  mayBeHeld,
  passedLimit,
} from "#src/domain/harm-limits.ts";
import type { Mark } from "#src/domain/state.ts";
import { dayMs, hourMs, minuteMs } from "#src/domain/units.ts";
import type { ServedStatus } from "#src/domain/vocabulary.ts";
import { view } from "#src/domain/view.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { type Db, rows, type Statements } from "#src/infrastructure/db.ts";
import { lockIds } from "#src/infrastructure/locks.ts";
import type { Source, StationFacts } from "#src/marks/station-facts.ts";
import { fromMs, msOf } from "#src/marks/marks.ts";
import { LRUCache } from "lru-cache";
import { nearestCity } from "#src/marks/nearest-city.ts";

export interface Decided {
  work: StationFacts;
  decision: Decision;
}

/** A harmful change that counts for the limits; without a city while it still waits for another device. */
export interface CountedChange {
  markId: number;
  stationId: string;
  source: string;
  city: string;
  from: ServedStatus;
  to: ServedStatus;
}

export interface Reviewed {
  decided: readonly Decided[];
  counted: readonly CountedChange[];
  held: readonly { markId: number; reason: "source" | "city" }[];
  harmful: readonly HarmfulChange[];
  alarms: readonly Alarm[];
  /** Sources whose newcomers gave stations their first status. */
  firsts: readonly FirstStatuses[];
}

/** A source whose newcomers gave stations their first status (decisions 4.19). */
export interface FirstStatuses {
  /** The name from `countedAsFirst`. */
  name: string;
  /** The name of the source in an alarm. */
  shown: Sentence;
  /** Stations in an hour above which the operator is told. */
  limit: number;
}

/** The name under which the changes of a source are counted. */
const nameOf = ({ viewer, partnerId }: Source): string =>
  viewer === null ? `partner ${partnerId}` : `network ${viewer}`;

/** Its name for an operator. */
const shownOf = ({ viewer, partnerId }: Source): Sentence => subjectOfSource(viewer, partnerId);

/** A mark whose harm may be held. */
interface Suspect {
  mark: Mark;
  harm: Harm;
}

/** The harmful changes of the suspects' sources, cities and stations, read under their locks. */
interface Known extends Ledger {
  changed: Map<string, Map<string, number>>;
  last: Map<string, { from: ServedStatus; to: ServedStatus; at: number }>;
}

/** A station that a source or a city changed; or, with the statuses, the last change of a station. */
interface FoundChange {
  name: string;
  station_id: string;
  at: number;
  from: ServedStatus | null;
  to: ServedStatus | null;
}

/**
 * The review of decisions 4.2: judges the harmful marks among the decided ones, in the order of their ids, and decides
 * the stations anew without those that it holds. Without a suspect it reads nothing from the database.
 */
export async function review(
  tx: Statements,
  all: readonly Decided[],
  { firstSeen, now, config }: { firstSeen: FirstSeen; now: number; config: Config },
  citiesOf: ReturnType<typeof createReviewCities>,
  decideAgain: (work: StationFacts) => Promise<Decision>,
): Promise<Reviewed> {
  const suspectsOf = ({ work, decision }: Decided): Suspect[] =>
    work.arrivals.marks
      .flatMap((mark) => {
        const harm = decision.harms.get(mark.id);
        return harm !== undefined && work.sources.has(mark.id) ? [{ mark, harm }] : [];
      })
      .filter(({ mark, harm }) => mayBeHeld(harm, now - firstSeen(mark.reporterId), config))
      .sort((a, b) => a.mark.id - b.mark.id);
  const firstSuspect = new Map(all.map((one) => [one, suspectsOf(one)[0]?.mark.id] as const));
  const suspected = all.filter((one) => firstSuspect.get(one) !== undefined);
  const seenAt = { firstSeen, now, config };
  if (suspected.length === 0)
    return { ...nothing, ...firstsOf(all, seenAt), decided: all, harmful: harmfulOf(all) };

  const cities = await citiesOf(
    tx,
    suspected.map(({ work }) => work.stationId),
  );
  const ledger = await readLedger(tx, suspected, cities, now);
  const decided = new Map(all.map((one) => [one.work.stationId, one]));
  const counted: CountedChange[] = [];
  const held: { markId: number; reason: "source" | "city" }[] = [];
  const alarms: Alarm[] = [];
  const byFirstMark = suspected.toSorted((a, b) => firstSuspect.get(a)! - firstSuspect.get(b)!);
  for (let one of byFirstMark) {
    const { stationId, sources } = one.work;
    const city = cities.get(stationId)!;
    const passed = new Set<number>();
    const heldHere: Mark[] = [];
    for (;;) {
      const suspect = suspectsOf(one).find(({ mark }) => !passed.has(mark.id));
      if (suspect === undefined) break;
      const { mark, harm } = suspect;
      const source = sources.get(mark.id)!;
      const name = nameOf(source);
      const sourceLimit = source.limit ?? config.networkHarmLimit;
      const place = {
        ...{ stationId, source: name, city: city.id, sourceLimit },
        sourceDailyLimit: sourceLimit * hoursADay[source.isLaunch ? "launch" : "usual"],
        cityLimit: cityLimitOf(city.stations, config),
      };
      const reason = passedLimit(harm, place, ledger, now);
      if (reason === null) {
        passed.add(mark.id);
        const { from, to, isPending } = harm;
        const change = { markId: mark.id, stationId, source: name, from, to };
        counted.push({ ...change, city: isPending ? "" : city.id });
        ledger.changed.get(name)?.set(stationId, now);
        if (isPending) continue;
        ledger.changed.get(city.id)!.set(stationId, now);
        ledger.last.set(stationId, { from, to, at: now });
        continue;
      }
      held.push({ markId: mark.id, reason });
      heldHere.push(mark);
      alarms.push({ kind: "marks-held", subject: shownOf(source), city: city.name, at: now });
      one = await withoutHeld(one, heldHere, now, config, decideAgain);
      decided.set(stationId, one);
    }
  }
  const result = [...decided.values()];
  const { counted: countedFirsts, firsts } = firstsOf(result, seenAt);
  const allCounted = [...counted, ...countedFirsts];
  return { decided: result, counted: allCounted, held, harmful: harmfulOf(result), alarms, firsts };
}

const nothing = { held: [], alarms: [] };
/** A key's limit of this number or more is no limit. */
const noLimit = 1_000_000;

/** Decides the station without the held marks, which still get their outcome. */
async function withoutHeld(
  { work, decision: before }: Decided,
  held: readonly Mark[],
  now: number,
  config: Config,
  decideAgain: (work: StationFacts) => Promise<Decision>,
): Promise<Decided> {
  const ids = new Set(held.map(({ id }) => id));
  const marks = work.arrivals.marks.filter(({ id }) => !ids.has(id));
  const left = { ...work, arrivals: { ...work.arrivals, marks } };
  const decision = await decideAgain(left);
  const { status, resolution_reason: reason } = view(decision.state, now, config.statusLifetimeMs);
  const outcomes = new Map(decision.outcomes);
  for (const { id } of held) {
    const { needed, rule } = before.outcomes.get(id)!;
    outcomes.set(id, { outcome: "held", status, reason, have: 0, needed, rule });
  }
  return { work: left, decision: { ...decision, outcomes } };
}

const harmfulOf = (all: readonly Decided[]): HarmfulChange[] =>
  all.flatMap(({ work, decision }) =>
    [...decision.harms].flatMap(([id, { from, to, isPending, kind }]) => {
      const source = work.sources.get(id);
      if (source === undefined || isPending || kind === "first") return [];
      return { from, to, sourceKind: source.limit === null ? "network" : "partner" } as const;
    }),
  );

/** The changes of decisions 4.19 among the decided marks, as rows that no limit counts, and their sources. */
function firstsOf(
  all: readonly Decided[],
  { firstSeen, now, config }: { firstSeen: FirstSeen; now: number; config: Config },
): { counted: CountedChange[]; firsts: FirstStatuses[] } {
  const counted: CountedChange[] = [];
  const firsts = new Map<string, FirstStatuses>();
  for (const { work, decision } of all)
    for (const { id, reporterId } of work.arrivals.marks) {
      const [harm, source] = [decision.harms.get(id), work.sources.get(id)];
      if (harm === undefined || source === undefined) continue;
      if (!isFirstByNewcomer(harm, now - firstSeen(reporterId), config)) continue;
      const limit = source.limit ?? config.networkHarmLimit;
      if (limit >= noLimit) continue;
      const { from, to } = harm;
      const name = countedAsFirst(nameOf(source));
      counted.push({ markId: id, stationId: work.stationId, source: name, city: "", from, to });
      firsts.set(name, { name, shown: shownOf(source), limit });
    }
  return { counted, firsts: [...firsts.values()] };
}

/** The source of these changes in `review_changes`. No limit of the review reads it. */
export const countedAsFirst = (source: string): string => `first ${source}`;

/**
 * Raises an alarm about each of these sources that has passed its limit in the hour before `now`, ms. Call it after the
 * commit of the changes: the last of several processes that commit at once then sees all of them.
 */
export async function tellFirstStatuses(
  db: Db,
  firsts: readonly FirstStatuses[],
  now: number,
): Promise<void> {
  const found = await rows<{ name: string; stations: number }>(
    db,
    `select source as name, count(distinct station_id) as stations from review_changes
     where source = any(?::text[]) and at > ${fromMs} group by 1`,
    [firsts.map(({ name }) => name), now - hourMs],
  );
  const counts = new Map(found.map(({ name, stations }) => [name, stations]));
  const alarms = firsts.flatMap(({ name, shown, limit }): Alarm[] => {
    const stations = counts.get(name) ?? 0;
    if (stations <= limit) return [];
    return [{ kind: "first-statuses", subject: shown, at: now, details: { stations } }];
  });
  await raiseAlarms(db, alarms);
}

/** Locks the counters of the suspects' sources and cities, then reads them: all in one round trip. */
async function readLedger(
  tx: Statements,
  suspected: readonly Decided[],
  cities: ReadonlyMap<string, ReviewCity>,
  now: number,
): Promise<Known> {
  const sources = suspected.flatMap(({ work }) => [...work.sources.values()]);
  // Sources without a limit need no count.
  const limited = sources.filter(({ limit }) => limit === null || limit < noLimit);
  const sourceNames = [...new Set(limited.map(nameOf))];
  const cityIds = [...new Set([...cities.values()].map(({ id }) => id))];
  const stationIds = suspected.map(({ work }) => work.stationId);
  const [, found] = await Promise.all([
    rows(
      tx,
      `select pg_advisory_xact_lock(${lockIds.review}, lock)
       from (select distinct hashtext(name) as lock from unnest(?::text[]) as n(name) order by 1) l`,
      [[...sourceNames, ...cityIds]],
      "lock_review",
    ),
    rows<FoundChange>(
      tx,
      `select source as name, station_id, ${msOf("max(at)")} as at, null as "from", null as "to" from review_changes
       where source = any(?::text[]) and at > ${fromMs} group by 1, 2
       union all
       select city, station_id, ${msOf("max(at)")}, null, null from review_changes
       where city = any(?::text[]) and at > ${fromMs} group by 1, 2
       union all
       (select distinct on (station_id) '', station_id, ${msOf("at")}, from_status, to_status from review_changes
        where station_id = any(?::text[]) and at > ${fromMs} and city <> '' order by station_id, at desc)`,
      [sourceNames, now - dayMs, cityIds, now - hourMs, stationIds, now - dayMs],
      "read_review",
    ),
  ]);
  const changed = new Map(
    [...sourceNames, ...cityIds].map((name) => [name, new Map<string, number>()]),
  );
  const last: Known["last"] = new Map();
  for (const { name, station_id, at, from, to } of found)
    if (from !== null && to !== null) last.set(station_id, { from, to, at });
    else changed.get(name)!.set(station_id, at);
  return { changed, last };
}

/** The city, or the cell, of a station in the review (decisions 4.6). */
export interface ReviewCity {
  /** Id of the city, or of the cell if no city is near. */
  id: string;
  /** `""` for a cell. */
  name: string;
  /** Stations there that have a status. */
  stations: number;
}

/** A city or a cell, with its middle. */
interface LocatedCity extends Omit<ReviewCity, "stations"> {
  lat: number;
  lon: number;
}

const keptMs = 10 * minuteMs;

/**
 * Gives the city of stations, for each harmful mark. Caches a station's city and a city's size for ten minutes: a size
 * is 1 ms in Postgres while all marks of the city wait for each other.
 */
export function createReviewCities() {
  const places = new LRUCache<string, LocatedCity>({ max: 20_000, ttl: keptMs });
  const sizes = new LRUCache<string, number>({ max: 5000, ttl: keptMs });

  return async (
    tx: Statements,
    stationIds: readonly string[],
  ): Promise<ReadonlyMap<string, ReviewCity>> => {
    const placeOf = await filled(places, stationIds, (asked) => readPlaces(tx, asked));
    const byId = new Map([...placeOf.values()].map((place) => [place.id, place]));
    const sizeOf = await filled(sizes, [...byId.keys()], (asked) =>
      readSizes(
        tx,
        asked.map((id) => byId.get(id)!),
      ),
    );
    return new Map(
      [...placeOf].map(([stationId, { id, name }]) => [
        stationId,
        { id, name, stations: sizeOf.get(id)! },
      ]),
    );
  };
}

/** The values of these keys from a cache, or else from `read`, whose values the cache then keeps. */
async function filled<T extends object | number>(
  cache: LRUCache<string, T>,
  keys: readonly string[],
  read: (asked: readonly string[]) => Promise<ReadonlyMap<string, T>>,
): Promise<Map<string, T>> {
  const known = new Map(
    keys.flatMap((key) => {
      const value = cache.get(key);
      return value === undefined ? [] : [[key, value] as const];
    }),
  );
  const asked = keys.filter((key) => !known.has(key));
  if (asked.length === 0) return known;
  for (const [key, value] of await read(asked)) {
    cache.set(key, value);
    known.set(key, value);
  }
  return known;
}

/** The nearest city of each station, otherwise its cell. */
async function readPlaces(
  tx: Statements,
  stationIds: readonly string[],
): Promise<Map<string, LocatedCity>> {
  const found = await rows<LocatedCity & { station_id: string }>(
    tx,
    `select a.id as station_id, coalesce('city ' || c.id, 'cell ' || floor(a.lat * 2) || ' ' || floor(a.lon * 2)) as id,
       coalesce(c.name, '') as name, coalesce(c.lat, floor(a.lat * 2) / 2 + 0.25) as lat,
       coalesce(c.lon, floor(a.lon * 2) / 2 + 0.25) as lon
     from stations a left join ${nearestCity} on true
     where a.id = any(?::text[])`,
    [stationIds],
  );
  return new Map(found.map(({ station_id, ...place }) => [station_id, place]));
}

/** Number of stations with a status around the middle of each place. */
async function readSizes(
  tx: Statements,
  places: readonly LocatedCity[],
): Promise<Map<string, number>> {
  const found = await rows<{ id: string; stations: number }>(
    tx,
    // Counted for each place apart, so that Postgres looks for it in the index of latitudes.
    `select p.id, n.stations from unnest(?::text[], ?::float8[], ?::float8[]) as p(id, lat, lon) cross join lateral (
       select count(*)::int as stations from stations s join station_status t on t.station_id = s.id
       where s.lat between p.lat - 0.25 and p.lat + 0.25 and abs(s.lon - p.lon) * cos(radians(p.lat)) <= 0.25
         and s.removed_at is null and t.status <> 'nodata') n`,
    [places.map(({ id }) => id), places.map(({ lat }) => lat), places.map(({ lon }) => lon)],
  );
  return new Map(found.map(({ id, stations }) => [id, stations]));
}
