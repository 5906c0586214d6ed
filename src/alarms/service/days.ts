import { Type } from "typebox";
import { feeds, type FeedReport, type ServiceDay } from "#src/domain/service-state.ts";
import { dayMs, minuteMs } from "#src/domain/units.ts";
import { type Db, rows } from "#src/infrastructure/db.ts";
import { compileShape, type Quarantine, stored } from "#src/infrastructure/quarantine.ts";
import type { Redis } from "#src/infrastructure/redis.ts";
import type { Resources } from "#src/infrastructure/resources.ts";
import { msOf } from "#src/marks/marks.ts";

/** Days that `/status` shows, today included. */
export const shownDays = 90;
/** Days before today that upkeep keeps. */
export const keptDays = 100;
/** A web process's report that a feed is well covers this minute only if it is younger than this. */
const saidMs = 30_000;

const keyOf = (prefix: string): string => `${prefix}:service`;

/** A web process reports the feeds that are well at `now` (ms). Rejects while Redis is away. */
export async function sayWell(
  redis: Redis,
  prefix: string,
  reports: readonly FeedReport[],
  now: number,
): Promise<void> {
  const well = reports.filter(({ state }) => state === "ok").map(({ feed }) => [feed, now]);
  if (well.length > 0) await redis.hset(keyOf(prefix), ...well.flat());
}

/**
 * The duty `service`: counts the present minute for each feed that a web process has just found well. May run twice,
 * because a minute is counted once. Rejects while Redis or Postgres is away, and the minute stays uncounted.
 */
export async function countMinute(
  deps: Pick<Resources, "db" | "config" | "clock" | "redis">,
): Promise<void> {
  const { db, config, clock, redis } = deps;
  const said = await redis.hgetall(keyOf(config.redisPrefix));
  const now = clock();
  const well = feeds.map((feed) => Math.abs(now - Number(said[feed] ?? NaN)) <= saidMs);
  const sql = `insert into service_days as d (day, feed, first_minute, last_well, well)
     select at::date, feed, minute, case when is_well then minute end, is_well::int
     from (select server_now() at time zone 'UTC' as at) n
     cross join lateral (select extract(hour from at)::int * 60 + extract(minute from at)::int as minute) m
     cross join unnest(?::text[], ?::boolean[]) as f(feed, is_well)
     order by feed
     on conflict (day, feed) do update set well = least(d.well, 1440) + 1, last_well = excluded.last_well
       where excluded.last_well > coalesce(d.last_well, -1)`;
  await rows(db, sql, [feeds, well]);
}

const minutes = Type.Integer({ minimum: 0, maximum: dayMs / minuteMs });
const dayShape = compileShape(
  Type.Object({ at: stored.time, feed: stored.word(feeds), first: minutes, well: minutes }),
);

/** The days that can be read. */
export async function readServiceDays(
  db: Db,
  quarantine: Pick<Quarantine, "sift">,
): Promise<ServiceDay[]> {
  const sql = `select ${msOf("day")} as at, feed, first_minute as first, well from service_days order by day, feed`;
  const found = await rows<ServiceDay>(db, sql);
  return quarantine.sift("service_days", found, ({ at, feed }) => `${at} ${feed}`, dayShape);
}
