import type { Follower } from "#src/feed/follower.ts";
import { startOfDay } from "#src/domain/time.ts";
import { countTimes, type InsightDay, pastDays } from "#src/marks/insight-days.ts";
import { cityFinder, loadInsightCities, loadPlaces } from "#snapshots/insights/city-of-station.ts";
import { countNow } from "#snapshots/insights/count.ts";
import { createInsightStore } from "#snapshots/insights/insight-store.ts";
import type { ReadModel } from "#snapshots/model/model.ts";
import type { Duty, RoleDeps } from "#workers/role.ts";

/** Counts what the country looks like, now and on each day, and stores it for the web processes. */
export function createInsightsDuty(
  deps: Pick<RoleDeps, "config" | "db" | "log" | "clock" | "redis"> & {
    model: Pick<ReadModel, "each">;
    follower: Pick<Follower, "seq" | "asOf">;
  },
): Duty {
  const { config, db, log, clock, redis, model, follower } = deps;
  const store = createInsightStore(redis, config.redisPrefix);
  const known = new Map<number, InsightDay & { madeAt: number }>();

  return async () => {
    const now = clock();
    const version = { seq: follower.seq(), asOfMs: follower.asOf(now), builtAtMs: now };
    const cities = await loadInsightCities(db);
    const cityAt = cityFinder(cities);
    const counts = await countNow(model, cityAt, now);
    const cityOf = new Map((await loadPlaces(db)).map((place) => [place.id, cityAt(place)]));
    const days = await pastDays(db, cityOf, now, config, known);
    const at = startOfDay(now);
    const times = await countTimes(db, cityOf, { from: at, to: now }, config);
    const today = { at, cities: times, lengthMs: now - at };
    const shown = cities.filter(({ id }) => counts[id] !== undefined);
    const kept = await store.save(version, { cities: shown, counts, today }, days);
    const ms = Math.round(clock() - now);
    log.debug({ stations: cityOf.size, days: days.length, ms, kept }, "insights made");
  };
}
