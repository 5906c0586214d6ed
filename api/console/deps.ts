import type { Services } from "#api/http/services.ts";

/** The services that the console's calls and pages use. */
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
