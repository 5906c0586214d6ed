import type { Services } from "#api/http/services.ts";

/** The services that the calls of the dashboard use. */
export type DashboardDeps = Pick<
  Services,
  "clock" | "config" | "db" | "keys" | "log" | "meter" | "redis" | "service" | "usedToday"
>;
