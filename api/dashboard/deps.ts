import type { Services } from "#api/http/services.ts";

/** What the calls of the dashboard need. */
export type DashboardDeps = Pick<
  Services,
  "clock" | "config" | "db" | "keys" | "log" | "meter" | "redis" | "usedToday"
>;
