import type { Follower } from "#src/feed/follower.ts";
import { startOfDay } from "#src/domain/time.ts";
import { createPriceGrid } from "#src/domain/price-line.ts";
import { countTimes, type InsightDay, pastDays } from "#src/marks/insight-days.ts";
import { type GradeDay, noteGrades, readGradeDays } from "#src/marks/insight-grades.ts";
import { loadCityRows } from "#snapshots/cities.ts";
import { cityFinder } from "#snapshots/insights/city-of-station.ts";
import { countNow } from "#snapshots/insights/count.ts";
import { createInsightStore } from "#snapshots/insights/insight-store.ts";
import { findMedians, saveMedians } from "#snapshots/insights/price-medians.ts";
import type { ReadModel } from "#snapshots/model/model.ts";
import type { Duty, RoleDeps } from "#workers/role.ts";

/** Computes the statuses and prices of the country, now and on each day, and stores them for the web processes. */
export function createInsightsDuty(
  deps: Pick<RoleDeps, "config" | "db" | "log" | "clock" | "redis" | "quarantine"> & {
    model: Pick<ReadModel, "each">;
    follower: Pick<Follower, "seq" | "asOf">;
  },
): Duty {
  const { config, db, log, clock, redis, model, follower, quarantine } = deps;
  const store = createInsightStore(redis, config.redisPrefix);
  const known = new Map<number, InsightDay & { madeAt: number }>();
  const knownGrades = new Map<number, { lookedAt: number; day: GradeDay }>();

  /** Also makes the medians: first of all, because new marks are judged by them, and what follows may fail. */
  const look = async (cityAt: ReturnType<typeof cityFinder>, now: number) => {
    const grid = createPriceGrid(config);
    const found = await countNow(model, cityAt, grid, now);
    await saveMedians(redis, config.redisPrefix, await findMedians(grid), now);
    return found;
  };

  return async () => {
    const now = clock();
    const version = { seq: follower.seq(), asOfMs: follower.asOf(now), builtAtMs: now };
    const cities = await loadCityRows(db, quarantine);
    const cityAt = cityFinder(cities);
    const { counts, cityOf } = await look(cityAt, now);
    const past = await pastDays(db, cityOf, now, config, known, quarantine);
    await noteGrades(db, counts, now);
    const gradesOf = await readGradeDays(db, knownGrades, quarantine);
    const withGrades = <Day extends InsightDay>(day: Day): Day => {
      const grades = gradesOf.get(day.at);
      return grades === undefined ? day : { ...day, grades };
    };
    const days = past.map(withGrades);
    const at = startOfDay(now);
    const times = await countTimes(db, cityOf, { from: at, to: now }, config);
    const today = withGrades({ at, cities: times, lengthMs: now - at });
    const shown = cities.filter(({ id }) => counts[id] !== undefined);
    const kept = await store.save(version, { cities: shown, counts, today }, days);
    const ms = Math.round(clock() - now);
    log.debug({ stations: cityOf.size, days: days.length, ms, kept }, "insights made");
  };
}
