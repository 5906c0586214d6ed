import type { Services } from "#api/http/services.ts";

/** What the routes of a partner's account need. */
export type AccountDeps = Pick<Services, "clock" | "config" | "db" | "log" | "redis">;
