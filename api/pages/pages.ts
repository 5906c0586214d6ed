import type { Page } from "#api/http/app.ts";
import { consolePages } from "#api/console/pages.ts";
import { dashboardPages } from "#api/dashboard/pages.ts";
import { metricsPage } from "#api/metrics/metrics-page.ts";
import { assetPages } from "#api/pages/assets.ts";
import { basemapPages } from "#api/pages/basemap.ts";
import { consumerMapPage } from "#api/pages/consumer-map.ts";
import { docsPage } from "#api/pages/docs.ts";
import { embedPage } from "#api/pages/embed.ts";
import { listPage } from "#api/pages/list.ts";
import { widgetPage } from "#api/pages/widget.ts";
import type { Services } from "#api/http/services.ts";

/** What is served outside the API, without a key and unmetered: plain Koa middleware, asked in this order. */
export const createPages = (services: Services): Page[] => [
  metricsPage(services),
  assetPages(),
  docsPage(),
  listPage(services),
  ...dashboardPages(services),
  ...consolePages(services),
  basemapPages(services.config),
  widgetPage(services),
  embedPage(services),
  consumerMapPage(services),
];
