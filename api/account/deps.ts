import type { Services } from "#api/http/services.ts";

/** The services that the routes of a partner's account use. */
export type AccountDeps = Pick<Services, "clock" | "config" | "db" | "log" | "redis">;
