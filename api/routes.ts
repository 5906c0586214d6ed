import type { Route } from "#api/route.ts";
import type { Services } from "#api/services.ts";

/** Every route below /api/v1/partner, in the order of partner-api.md 4. */
export const createRoutes = (_services: Services): Route[] => [];
