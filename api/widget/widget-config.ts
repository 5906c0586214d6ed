import { basemapOf, type Center, parseCenter } from "#src/infrastructure/map-settings.ts";
import { staleAfterHours } from "#src/domain/time.ts";
import { grades, queues, statuses } from "#src/domain/vocabulary.ts";
import { reply } from "#api/openapi/answers.ts";
import { widgetConfig, widgetConfigExample } from "#src/contract/shapes/widget.ts";
import type { ConsolePublicText } from "#src/contract/console.ts";
import type { Feed } from "#src/domain/service-state.ts";
import { route } from "#api/http/route.ts";
import type { WidgetDeps } from "#api/widget/deps.ts";

/** GET /widget/config: the map's settings for its start, docs/contract.md 2.9 and decisions 6. */
export const widgetConfigRoute = (services: WidgetDeps) =>
  route({
    method: "GET",
    path: "/widget/config",
    access: "any",
    summary: "Boot configuration of the widget",
    answers: {
      operationId: "getWidgetConfig",
      tag: "Widget",
      description: "What the map needs to start, as the operator has set it for this key.",
      replies: { 200: reply("The configuration", widgetConfig, widgetConfigExample) },
    },
    handle: (ctx) => {
      const { config } = services;
      const { key } = ctx.state;
      ctx.body = {
        confirm_min: key.confirmMin,
        reports_enabled: key.reports,
        grades,
        queues,
        statuses,
        center: centerOf(services),
        stale_after_hours: staleAfterHours(config.statusLifetimeMs),
        cooldown_s: config.cooldownMs / 1000,
        express_cooldown_s: config.expressCooldownMs / 1000,
        near_m: config.nearM,
        basemap: basemapOf(config),
        incident: incidentOf(services),
        credits: services.credits.list(),
      };
    },
  });

const ofDrivers: readonly Feed[] = ["statuses", "delta", "marks"];

/** The title of the newest open incident that a driver may notice on the map; null without one. */
const incidentOf = ({ service }: WidgetDeps): ConsolePublicText | null =>
  service
    .openIncidents()
    .find(({ feeds }) => feeds.length === 0 || feeds.some((feed) => ofDrivers.includes(feed)))
    ?.title ?? null;

/** The map's centre unless its address has one: the one set, else the largest city, else the middle of the stations. */
export function centerOf({
  config,
  cities,
  model,
}: Pick<WidgetDeps, "config" | "cities" | "model">): Center {
  const set = parseCenter(config.widgetCenter);
  if (set !== null) return set;
  const [largest] = cities.list({ q: "", offset: 0, limit: 1 }).cities;
  if (largest !== undefined) return { lat: largest.lat, lon: largest.lon, zoom: largest.zoom };
  return model.locations.middle() ?? { lat: 0, lon: 0, zoom: 2 };
}
