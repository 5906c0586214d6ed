import type { Services } from "#api/http/services.ts";

/** What the routes of the map's users need. */
export type WidgetDeps = Pick<
  Services,
  | "cities"
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
  | "producer"
  | "waiters"
>;
