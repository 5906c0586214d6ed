import type { Services } from "#api/http/services.ts";
import type { MarkDeps } from "#api/marks/intake.ts";

/** The services that the routes of the map's users use. */
export type WidgetDeps = MarkDeps & Pick<Services, "cities" | "credits" | "producer" | "service">;
