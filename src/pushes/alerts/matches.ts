import { answerFor, hasFuel, likelyFrom } from "#src/domain/grade-answer.ts";
import { type Grade, grades } from "#src/domain/vocabulary.ts";
import { view } from "#src/domain/view.ts";
import { type FeedRow, givenOut, isGivenOut, readStations } from "#src/feed/feed.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { type Db, inTransaction, rows, type Tx } from "#src/infrastructure/db.ts";
import { msOf } from "#src/marks/marks.ts";

/** Stations of one transaction. */
const pageStations = 500;

/** A grade that is said to be there, or one that is also likely to be. */
export type Wanted = Grade | `${Grade} likely`;

/** What is likely stays so down to this chance, percent: else each swing of it would be told. */
const staysLikelyFrom = likelyFrom - 10;

/**
 * The grades that a driver finds at a station at `now`, ms, and those that are likely there; `had`: those of before,
 * which stay likely while the chance is unknown.
 */
export const wantedAt = (
  { removed, state, chance }: Pick<FeedRow, "removed" | "state" | "chance">,
  had: readonly Wanted[],
  now: number,
  lifetimeMs: number,
): Wanted[] => {
  if (removed) return [];
  const fuel = view(state, now, lifetimeMs);
  const there = grades.filter((grade) => hasFuel(answerFor(fuel, grade)));
  const likely = there
    .map((grade) => `${grade} likely` as const)
    .filter((one) =>
      had.includes(one)
        ? (chance ?? staysLikelyFrom) >= staysLikelyFrom
        : (chance ?? 0) >= likelyFrom,
    );
  return [...there, ...likely];
};

/**
 * Compares every station that has changed since the last call with its grades of then, and stores the matches of new
 * grades with alerts (decisions 15.25). It goes page by page: the cursors move in the transaction that writes. Gives
 * the number of matches.
 */
export async function matchAlerts(
  db: Db,
  { statusLifetimeMs }: Pick<Config, "statusLifetimeMs">,
  clock: () => number,
): Promise<number> {
  let matched = 0;
  while (await isBehind(db)) {
    const page = await inTransaction(db, (tx) => matchPage(tx, statusLifetimeMs, clock));
    matched += page;
  }
  return matched;
}

/** SQL for a cursor. A cursor beyond the numbers given out would stop all alerts, so it begins anew. */
const cursorSql = (name: "change_seq" | "time_change_seq"): string =>
  `case when ${isGivenOut(name, name)} then ${name} else 0 end as ${name}`;
const cursorsSql = `select ${cursorSql("change_seq")}, ${cursorSql("time_change_seq")} from fuel_alert_cursor`;

/** Checks without a lock, because mostly there is nothing to do. */
async function isBehind(db: Db): Promise<boolean> {
  const sql = `select exists (select from ${givenOut("changes")} where seq > c.change_seq)
       or exists (select from ${givenOut("time_changes")} where seq > c.time_change_seq) as behind from (${cursorsSql}) c`;
  const [found] = await rows<{ behind: boolean }>(db, sql);
  return found!.behind;
}

interface Changed {
  station_id: string;
  seq: number;
  timed: boolean;
  /** ms. */
  at: number;
}

async function matchPage(tx: Tx, lifetimeMs: number, clock: () => number): Promise<number> {
  // The lock makes processes take pages one after the other. Changes are read in a later statement.
  const sql = `${cursorsSql} for update`;
  const [cursor] = await rows<{ change_seq: number; time_change_seq: number }>(tx, sql);
  const after = (table: "changes" | "time_changes", timed: boolean): string =>
    `(select station_id, seq, ${timed} as timed, ${msOf("at")} as at from ${givenOut(table)} where seq > ? order by seq limit ${pageStations})`;
  const changed = await rows<Changed>(
    tx,
    `${after("changes", false)} union all ${after("time_changes", true)}`,
    [cursor!.change_seq, cursor!.time_change_seq],
  );
  if (changed.length === 0) return 0;
  const ids = [...new Set(changed.map(({ station_id }) => station_id))];
  // An unreadable station keeps its grades; when it can be read again, it has changed.
  const stations = (await readStations(tx, ids)).filter(({ fault }) => fault === undefined);
  const knownSql =
    "select station_id, grades from station_grades where station_id = any(?::text[])";
  const known = await rows<{ station_id: string; grades: Wanted[] }>(tx, knownSql, [ids]);
  const before = new Map(known.map((one) => [one.station_id, one.grades]));
  // The changes of this page are all before it.
  const now = clock();
  const times = new Map<string, number>();
  for (const { station_id: id, at } of changed) times.set(id, Math.max(at, times.get(id) ?? at));
  const compared = stations.map((station) => {
    const had = before.get(station.id) ?? [];
    const has = wantedAt(station, had, now, lifetimeMs);
    const fresh = has.filter((grade) => !had.includes(grade));
    return { station, had, has, fresh, at: times.get(station.id)! };
  });
  const different = compared.filter(({ had, has }) => had.join() !== has.join());
  await storeGrades(tx, different);
  const matched = await storeMatches(tx, different);
  const last = (timed: boolean, from: number): number =>
    changed.reduce((seq, one) => (one.timed === timed ? Math.max(seq, one.seq) : seq), from);
  await rows(tx, "update fuel_alert_cursor set change_seq = ?, time_change_seq = ?", [
    last(false, cursor!.change_seq),
    last(true, cursor!.time_change_seq),
  ]);
  return matched;
}

interface Compared {
  station: FeedRow;
  /** Time of its last change, ms, also by time alone. */
  at: number;
  has: Wanted[];
  fresh: Wanted[];
}

async function storeGrades(tx: Tx, different: readonly Compared[]): Promise<void> {
  if (different.length === 0) return;
  await rows(
    tx,
    `insert into station_grades (station_id, grades)
     select id, string_to_array(has, ',') from unnest(?::text[], ?::text[]) as s(id, has)
     on conflict (station_id) do update set grades = excluded.grades`,
    [different.map(({ station }) => station.id), different.map(({ has }) => has.join())],
  );
}

/** Degrees of latitude above every radius: the index finds the alerts of a strip. */
const stripDegrees = 0.5;
/** Null for an alert without a valid place: its sine would be an error, and nobody would be told. */
const distanceSql = `case when a.lat between -90 and 90 and a.lon between -180 and 180 then
  6371008.8 * 2 * asin(least(1, sqrt(sin(radians(a.lat - g.lat) / 2) ^ 2
    + cos(radians(a.lat)) * cos(radians(g.lat)) * sin(radians(a.lon - g.lon) / 2) ^ 2))) end`;

/** Stores matches with alerts from before the change: later drivers have seen the station on the map. */
async function storeMatches(tx: Tx, different: readonly Compared[]): Promise<number> {
  const gained = different.flatMap(({ station, at, fresh }) =>
    fresh.map((grade) => ({ station, at, grade })),
  );
  if (gained.length === 0) return 0;
  const told = await rows(
    tx,
    `insert into fuel_alert_matches (alert_id, station_id)
     select a.id, g.id
     from unnest(?::text[], ?::text[], ?::float8[], ?::float8[], ?::float8[]) as g(id, grade, lat, lon, at)
     join fuel_alerts a on a.grade = g.grade and a.lat between g.lat - ${stripDegrees} and g.lat + ${stripDegrees}
       and a.created_at <= to_timestamp(g.at / 1000) and a.expires_at > server_now()
       and ${distanceSql} <= a.radius_m
     on conflict do nothing returning 1`,
    [
      gained.map(({ station }) => station.id),
      gained.map(({ grade }) => grade),
      gained.map(({ station }) => station.lat),
      gained.map(({ station }) => station.lon),
      gained.map(({ at }) => at),
    ],
  );
  return told.length;
}
