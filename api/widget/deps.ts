import type { Services } from "#api/http/services.ts";

/** The services that the routes of the map's users use. */
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
