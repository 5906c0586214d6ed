import type { Route } from "#api/route.ts";
import { citiesRoute } from "#api/routes/cities.ts";
import { askLimitsRoute, listLimitsRoute } from "#api/routes/limit-requests.ts";
import { reportRoute } from "#api/routes/report.ts";
import { reportBatchRoute } from "#api/routes/report-batch.ts";
import { reportStateRoute } from "#api/routes/report-state.ts";
import { stationsRoute } from "#api/routes/stations.ts";
import { allStationsRoute } from "#api/routes/stations-all.ts";
import { deltaRoute } from "#api/routes/stations-delta.ts";
import { oneStationRoute } from "#api/routes/stations-one.ts";
import { usageRoute } from "#api/routes/usage.ts";
import { widgetConfigRoute } from "#api/routes/widget-config.ts";
import { widgetConfirmRoute } from "#api/routes/widget-confirm.ts";
import { widgetReportRoute } from "#api/routes/widget-report.ts";
import type { Services } from "#api/services.ts";

/** Every route below /api/v1/partner, in the order of partner-api.md 4. */
export const createRoutes = (services: Services): Route[] => [
  stationsRoute(services),
  allStationsRoute(services),
  deltaRoute(services),
  oneStationRoute(services),
  citiesRoute(services),
  usageRoute(services),
  askLimitsRoute(services),
  listLimitsRoute(services),
  reportRoute(services),
  reportBatchRoute(services),
  reportStateRoute(services),
  widgetConfigRoute(services),
  widgetReportRoute(services),
  widgetConfirmRoute(services),
];
