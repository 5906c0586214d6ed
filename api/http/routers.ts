import { Router } from "@koa/router";
import { askLimitsRoute, listLimitsRoute } from "#api/account/limit-requests.ts";
import { rotateKeyRoute } from "#api/account/key-rotation.ts";
import { usageRoute } from "#api/account/usage.ts";
import { deliveryRoutes } from "#api/account/webhook-deliveries.ts";
import { webhookRoutes } from "#api/account/webhooks.ts";
import { consolePages } from "#api/console/pages.ts";
import { dashboardPages } from "#api/dashboard/pages.ts";
import { healthPages } from "#api/http/health.ts";
import { routesOf } from "#api/http/register-routes.ts";
import type { Route, Middleware, State } from "#api/http/route.ts";
import type { Services } from "#api/http/services.ts";
import { eraseUserRoute, forgetDeviceRoute } from "#api/marks/erase.ts";
import { submitMarkRoute } from "#api/marks/submit-mark.ts";
import { submitMarksRoute } from "#api/marks/submit-marks.ts";
import { getReportRoute, getReportsRoute } from "#api/marks/get-reports.ts";
import { metricsPage } from "#api/metrics/metrics-page.ts";
import { openApiPages } from "#api/openapi/serve.ts";
import { alertCalls } from "#api/pages/alerts.ts";
import { assetPages } from "#api/pages/assets.ts";
import { moved } from "#api/pages/built-page.ts";
import { basemapPages } from "#api/pages/basemap.ts";
import { clientPackage } from "#api/pages/client-package.ts";
import { docsPages } from "#api/pages/docs/pages.ts";
import { guidePages } from "#api/pages/docs/for-programs.ts";
import { embedPages } from "#api/pages/embed.ts";
import { pagesLimit } from "#api/pages/guards.ts";
import { landPages } from "#api/pages/land.ts";
import { listPage } from "#api/pages/list.ts";
import { consumerMapPage, widgetPages } from "#api/pages/maps.ts";
import { notFoundPage } from "#api/pages/not-found.ts";
import { overviewPage } from "#api/pages/overview.ts";
import { privacyPage } from "#api/pages/privacy.ts";
import { stationPage } from "#api/pages/station-page.ts";
import { suggestionCalls } from "#api/pages/suggestions.ts";
import { problemPages } from "#api/pages/problem-pages.ts";
import { webManifest } from "#api/pages/web-manifest.ts";
import { citiesRoute } from "#api/stations/cities.ts";
import { cityInsightsRoute } from "#api/stations/insights-cities.ts";
import { pathFormats } from "#api/stations/format.ts";
import { stationsRoute } from "#api/stations/stations.ts";
import { allStationsRoute } from "#api/stations/stations-all.ts";
import { alongRoute } from "#api/stations/stations-along.ts";
import { deltaRoute } from "#api/stations/stations-delta.ts";
import { stationHistoryRoute } from "#api/stations/stations-history.ts";
import { oneStationRoute } from "#api/stations/stations-one.ts";
import { streamRoute } from "#api/stations/stations-stream.ts";
import { statusPages } from "#api/pages/status/page.ts";
import { widgetConfigRoute } from "#api/widget/widget-config.ts";
import { widgetWithdrawRoute } from "#api/widget/withdraw-mark.ts";
import { widgetConfirmRoute, widgetReportRoute } from "#api/widget/widget-marks.ts";

/** Every route below /api/v1/partner, in the order of docs/contract.md 4. The first that fits a path wins. */
export const createRoutes = (services: Services): Route[] => [
  stationsRoute(services),
  allStationsRoute(services),
  ...pathFormats.flatMap((format) => [
    stationsRoute(services, format),
    allStationsRoute(services, format),
  ]),
  alongRoute(services),
  deltaRoute(services),
  streamRoute(services),
  oneStationRoute(services),
  stationHistoryRoute(services),
  citiesRoute(services),
  cityInsightsRoute(services),
  usageRoute(services),
  askLimitsRoute(services),
  listLimitsRoute(services),
  rotateKeyRoute(services),
  submitMarkRoute(services),
  submitMarksRoute(services),
  getReportsRoute(services),
  getReportRoute(services),
  eraseUserRoute(services),
  ...webhookRoutes(services),
  ...deliveryRoutes(services),
  widgetConfigRoute(services),
  widgetReportRoute(services),
  widgetConfirmRoute(services),
  widgetWithdrawRoute(services),
  forgetDeviceRoute(services),
];

/** All pages and files: no API key, not metered. */
export function createPages(services: Services, routes: readonly Route[]): Middleware[] {
  const router = new Router<State>({ sensitive: true, strict: true });
  healthPages(router, services);
  metricsPage(router, services);
  const document = openApiPages(router, services, routes);
  problemPages(router, services);
  guidePages(router, services);
  docsPages(router, services, document);
  clientPackage(router, services);
  assetPages(router, services);
  webManifest(router);
  listPage(router, services);
  overviewPage(router, services);
  statusPages(router, services);
  privacyPage(router, services);
  basemapPages(router, services);
  landPages(router);
  widgetPages(router, services);
  embedPages(router, services);
  stationPage(router, services);
  consumerMapPage(router, services);
  // A browser's user may well end the address with a slash.
  for (const path of ["/docs", "/list", "/overview", "/privacy", "/problems", "/status"])
    router.get(`${path}/`, (ctx) => moved(ctx, 308, `..${path}`));
  const apps = [
    ...dashboardPages(router, services),
    ...consolePages(router, services),
    ...alertCalls(services),
    ...suggestionCalls(services),
  ];
  return [pagesLimit(services), notFoundPage, routesOf(router), ...apps];
}
