import type { Services } from "#api/http/services.ts";

/** The services that the routes of marks use. */
export type MarkDeps = Pick<
  Services,
  | "clock"
  | "config"
  | "db"
  | "follower"
  | "intake"
  | "invalidation"
  | "log"
  | "meter"
  | "model"
  | "priceMedians"
  | "waiters"
>;
