import { Counter, Gauge } from "prom-client";
import type { Services } from "#api/http/services.ts";

/** Figures that a web process knows anyway, read when somebody looks. */
export function registerProcessState(services: Services): void {
  const { metrics, clock, follower, dumps, meter, health, waiters, rectangles, asOf } = services;
  const gauge = (name: string, help: string, read: () => number): void => {
    metrics.registry.registerMetric(
      new Gauge({
        name,
        help,
        registers: [],
        collect() {
          this.set(read());
        },
      }),
    );
  };

  gauge("fuelmark_ready", "1 when /readyz answers 200.", () => (health.report().ready ? 1 : 0));
  gauge(
    "fuelmark_change_lag_seconds",
    "How far as_of lies behind the clock; 1 to 3 when all is well.",
    () => seconds(clock() - asOf(clock())),
  );
  gauge(
    "fuelmark_change_read_age_seconds",
    "Time since the change feed was last read; NaN before the first time.",
    () => (follower.readAt() === 0 ? NaN : seconds(clock() - follower.readAt())),
  );
  gauge("fuelmark_change_seq", "Highest number of the change feed applied here.", follower.seq);
  gauge(
    "fuelmark_dump_age_seconds",
    "Age of the newest dump of the whole country; NaN without one.",
    () => seconds(dumps.ageMs(clock()) ?? NaN),
  );
  gauge("fuelmark_redis_away", "1 while limits hold for this process alone.", () =>
    meter.away ? 1 : 0,
  );
  gauge("fuelmark_waiters", "Marks whose outcome somebody waits for.", () => waiters.ids().length);

  metrics.registry.registerMetric(
    new Gauge({
      name: "fuelmark_degraded",
      help: "1 for each part that /readyz calls degraded.",
      labelNames: ["part"],
      registers: [],
      collect() {
        for (const [part, { ok }] of Object.entries(health.report().checks))
          this.set({ part }, ok ? 0 : 1);
      },
    }),
  );
  metrics.registry.registerMetric(
    new Gauge({
      name: "fuelmark_pool_connections",
      help: "Postgres connections of this process (used, free) and who waits for one (waiting).",
      labelNames: ["state"],
      registers: [],
      collect() {
        const { used, free, waiting } = poolUse(services);
        this.set({ state: "used" }, used);
        this.set({ state: "free" }, free);
        this.set({ state: "waiting" }, waiting);
      },
    }),
  );
  metrics.registry.registerMetric(
    new Counter({
      name: "fuelmark_rectangles_total",
      help: "Rectangles of publishable keys that the shared cache had (hit) or did not have (miss).",
      labelNames: ["result"],
      registers: [],
      collect() {
        const { hits, misses } = rectangles.served();
        this.reset();
        this.inc({ result: "hit" }, hits);
        this.inc({ result: "miss" }, misses);
      },
    }),
  );
}

const seconds = (ms: number): number => ms / 1000;

function poolUse({ db }: Pick<Services, "db">) {
  const { totalCount, idleCount, waitingCount } = db.pool;
  return { used: totalCount - idleCount, free: idleCount, waiting: waitingCount };
}
