import type { Services } from "#api/http/services.ts";

/** What the routes of marks need. */
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
