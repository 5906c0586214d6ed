import type { Services } from "#api/http/services.ts";

/** The services that the reads of stations use. */
export type ReadDeps = Pick<
  Services,
  | "asOf"
  | "cities"
  | "clock"
  | "config"
  | "db"
  | "dumps"
  | "follower"
  | "insights"
  | "lists"
  | "model"
  | "rectangles"
  | "streams"
>;
