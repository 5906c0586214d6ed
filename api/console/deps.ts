import type { Services } from "#api/http/services.ts";

/** What the console's calls and pages need. */
export type ConsoleDeps = Pick<
  Services,
  | "alarms"
  | "clock"
  | "config"
  | "db"
  | "health"
  | "invalidation"
  | "log"
  | "metrics"
  | "model"
  | "producer"
  | "quarantine"
  | "redis"
>;
