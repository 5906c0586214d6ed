import type { Route } from "#api/http/route.ts";
import { citiesRoute } from "#api/stations/cities.ts";
import { askLimitsRoute, listLimitsRoute } from "#api/account/limit-requests.ts";
import { reportRoute } from "#api/marks/report.ts";
import { reportBatchRoute } from "#api/marks/report-batch.ts";
import { reportStateRoute } from "#api/marks/report-state.ts";
import { stationsRoute } from "#api/stations/stations.ts";
import { allStationsRoute } from "#api/stations/stations-all.ts";
import { deltaRoute } from "#api/stations/stations-delta.ts";
import { oneStationRoute } from "#api/stations/stations-one.ts";
import { usageRoute } from "#api/account/usage.ts";
import { widgetConfigRoute } from "#api/widget/widget-config.ts";
import { widgetConfirmRoute } from "#api/widget/widget-confirm.ts";
import { widgetReportRoute } from "#api/widget/widget-report.ts";
import type { Services } from "#api/http/services.ts";

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
