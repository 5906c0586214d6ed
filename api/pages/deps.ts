import type { Services } from "#api/http/services.ts";

/** What the pages without a session need. */
export type PageDeps = Pick<
  Services,
  "cities" | "clock" | "config" | "db" | "health" | "insights" | "keys" | "model" | "service"
>;
