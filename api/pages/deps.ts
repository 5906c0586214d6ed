import type { Services } from "#api/http/services.ts";

/** The services that the pages without a session use. */
export type PageDeps = Pick<
  Services,
  | "cities"
  | "clock"
  | "config"
  | "credits"
  | "db"
  | "health"
  | "insights"
  | "keys"
  | "model"
  | "service"
>;
