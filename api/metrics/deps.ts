import type { Services } from "#api/http/services.ts";

/** The services that the figures are read from. */
export type MetricsDeps = Pick<
  Services,
  | "alarms"
  | "asOf"
  | "clock"
  | "config"
  | "damage"
  | "database"
  | "db"
  | "dumps"
  | "duties"
  | "eviction"
  | "figuresOf"
  | "follower"
  | "health"
  | "meter"
  | "metrics"
  | "peers"
  | "producer"
  | "quarantine"
  | "rectangles"
  | "streams"
  | "time"
  | "unfoldable"
  | "waiters"
>;
