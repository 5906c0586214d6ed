import { Type } from "typebox";
import { type DayTimes, type GradeSums, noTimes } from "#src/domain/insights.ts";
import { runsWithin } from "#src/domain/view.ts";
import { formatDay, startOfDay } from "#src/domain/time.ts";
import { dayMs, hourMs } from "#src/domain/units.ts";
import type { Status } from "#src/domain/vocabulary.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { type Db, inTransaction, rows } from "#src/infrastructure/db.ts";
import { slices } from "#src/infrastructure/lists.ts";
import { lockIds } from "#src/infrastructure/locks.ts";
import { compileShape, type Quarantine } from "#src/infrastructure/quarantine.ts";
import { fromMs, msOf } from "#src/marks/marks.ts";
import { loadRuns, takeRewritten } from "#src/marks/stored-runs.ts";

/** Days that insights look back, today included. */
export const insightDaysMax = 90;

/** A day by city id; `""` stands for the stations that have no city near. */
export interface InsightDay {
  /** Its midnight, ms. */
  at: number;
  cities: Readonly<Record<string, DayTimes>>;
  /** Absent when nobody looked at the grades. */
  grades?: Readonly<Record<string, GradeSums>>;
}

/** The city of each station in service, by id. */
export type CityOfStation = ReadonlyMap<string, string>;

/** Marks that came before midnight may be committed after it: until then yesterday is counted at each look. */
const settlingMs = hourMs;

type Stored = Record<
  string,
  [stations: number, yes: number, low: number, no: number, queue: number]
>;

/**
 * Past days from the oldest kept one to yesterday. Each is counted once and stored; it is counted anew when runs of it
 * were rewritten since (decisions 7.45). `known` are days of an earlier call by their `madeAt`.
 */
export async function pastDays(
  db: Db,
  cityOf: CityOfStation,
  now: number,
  config: Config,
  known: Map<number, InsightDay & { madeAt: number }>,
  quarantine: Pick<Quarantine, "take">,
): Promise<InsightDay[]> {
  const today = startOfDay(now);
  const first = today - (insightDaysMax - 1) * dayMs;
  const turns = Math.ceil(stationDaysMost / (daysAtOnce * cityOf.size + 1));
  for (let turn = 0, isDone = false; turn < turns && !isDone; turn++)
    isDone = await countMissing(db, cityOf, first, now, config);
  const stored = await rows<{ at: number; made: number }>(
    db,
    `select ${msOf("day")} as at, ${msOf("made_at")} as made from insight_days
     where day >= ${dayOf} and day < ${dayOf} order by day`,
    [first, today],
  );
  const found: InsightDay[] = [];
  for (const { at, made } of stored) {
    const held = known.get(at);
    const day = held?.madeAt === made ? held : await readDay(db, at, quarantine);
    if (day === null) continue;
    known.set(at, day);
    found.push(day);
  }
  for (const at of known.keys()) if (at < first) known.delete(at);
  return found;
}

/** SQL: the day of a bound time, ms. */
export const dayOf = `(${fromMs} at time zone 'UTC')::date`;
const daysAtOnce = 10;
/** Counted at one look: no dump is made meanwhile. */
const stationDaysMost = 3_000_000;
/** Of one statement: for all of a large country it took longer than a statement may, and its lists much memory. */
const stationsAtOnce = 20_000;

/** Counts some of the days that are missing or no longer right, the newest first. True when none is left. */
const countMissing = (
  db: Db,
  cityOf: CityOfStation,
  first: number,
  now: number,
  config: Config,
): Promise<boolean> =>
  inTransaction(db, async (tx) => {
    await rows(tx, `select pg_advisory_xact_lock(${lockIds.insightDays})`);
    const today = startOfDay(now);
    const wrongFrom = startOfDay((await takeRewritten(tx)) ?? today);
    await rows(tx, `delete from insight_days where day < ${dayOf} or day >= ${dayOf}`, [
      first,
      wrongFrom,
    ]);
    const stored = await rows<{ at: number; made: number }>(
      tx,
      `select ${msOf("day")} as at, ${msOf("made_at")} as made from insight_days`,
    );
    const settled = new Set(
      stored.flatMap(({ at, made }) => (made >= at + dayMs + settlingMs ? [at] : [])),
    );
    const missing: number[] = [];
    for (let at = today - dayMs; at >= first; at -= dayMs) if (!settled.has(at)) missing.push(at);
    for (const at of missing.slice(0, daysAtOnce)) {
      const cities = await countTimes(tx, cityOf, { from: at, to: at + dayMs }, config);
      await rows(
        tx,
        `insert into insight_days (day, made_at, cities) values (${dayOf}, ${fromMs}, ?::jsonb)
         on conflict (day) do update set made_at = excluded.made_at, cities = excluded.cities`,
        [at, now, JSON.stringify(pack(cities))],
      );
    }
    return missing.length <= daysAtOnce;
  });

/**
 * The time (ms) for which the stations of each city served each status, from the status runs and with changes by the
 * passing of time that are not stored yet. Only stations of `cityOf` count.
 */
export async function countTimes(
  db: Pick<Db, "raw">,
  cityOf: CityOfStation,
  { from, to }: { from: number; to: number },
  config: Config,
): Promise<Record<string, DayTimes>> {
  const cities: Record<string, DayTimes> = {};
  for (const city of cityOf.values()) (cities[city] ??= noTimes()).stations += 1;
  const due = await rows<{ id: string }>(
    db,
    "select station_id as id from station_status where next_at <= server_now() order by 1",
  );
  const isDue = new Set(due.map(({ id }) => id));
  const counted = [...cityOf.keys()].filter((id) => !isDue.has(id));
  for (const ids of slices(counted, stationsAtOnce)) {
    const found = await rows<{ city: string; status: Status; ms: number }>(
      db,
      `select p.city, r.status,
       sum(extract(epoch from least(coalesce(r.to_at, w.until), w.until) - greatest(r.from_at, w.since)) * 1000)::float8 as ms
     from (select ${fromMs} as since, ${fromMs} as until) w
     cross join unnest(?::text[], ?::text[]) as p(station_id, city)
     cross join lateral (
       (select status, from_at, to_at from status_runs s
        where s.station_id = p.station_id and s.from_at <= w.since order by s.from_at desc limit 1)
       union all
       select status, from_at, to_at from status_runs s
       where s.station_id = p.station_id and s.from_at > w.since and s.from_at < w.until) r
     where exists (select from status_runs s where s.station_id = p.station_id and s.from_at < w.until)
       and r.status <> 'nodata' and (r.to_at is null or r.to_at > w.since)
     group by 1, 2`,
      [from, to, ids, ids.map((id) => cityOf.get(id)!)],
    );
    for (const { city, status, ms } of found) cities[city]!.ms[status] += ms;
  }
  for (const { id } of due) {
    const times = cities[cityOf.get(id) ?? "-"];
    const runs = times === undefined ? null : await loadRuns(db, id, from, config);
    for (const run of runsWithin(runs ?? [], from, to))
      if (run.status !== "nodata") times!.ms[run.status] += (run.to ?? to) - run.from;
  }
  return cities;
}

const pack = (cities: Readonly<Record<string, DayTimes>>): Stored =>
  Object.fromEntries(
    Object.entries(cities).map(([id, { stations, ms }]) => [
      id,
      [stations, ms.yes, ms.low, ms.no, ms.queue],
    ]),
  );

const citiesShape = compileShape(
  Type.Record(Type.String(), Type.Array(Type.Number(), { minItems: 5, maxItems: 5 })),
);

/** Null for a day that is gone, or unreadable and so counted anew at the next look. */
async function readDay(
  db: Db,
  at: number,
  quarantine: Pick<Quarantine, "take">,
): Promise<(InsightDay & { madeAt: number }) | null> {
  const [found] = await rows<{ made: number; cities: Stored }>(
    db,
    `select ${msOf("made_at")} as made, cities from insight_days where day = ${dayOf}`,
    [at],
  );
  if (found === undefined) return null;
  if (!quarantine.take("insight_days", formatDay(at), citiesShape(found.cities))) {
    await rows(db, `update insight_days set made_at = '-infinity' where day = ${dayOf}`, [at]);
    return null;
  }
  const cities = Object.fromEntries(
    Object.entries(found.cities).map(([id, [stations, yes, low, no, queue]]) => [
      id,
      { stations, ms: { yes, low, no, queue } },
    ]),
  );
  return { at, madeAt: found.made, cities };
}
