import { moved } from "#api/pages/built-page.ts";
import { createMapPage } from "#api/pages/map-page.ts";
import type { PageRouter } from "#api/http/state.ts";
import type { Services } from "#api/http/services.ts";
import { consumerKey } from "#src/keys/consumer-key.ts";

/**
 * `/`: the consumer map, the widget's page with the operator's own key. Where that key is not in force, the plain
 * list.
 */
export function consumerMapPage(router: PageRouter, { keys, config }: Services): void {
  const mapPage = createMapPage(config);
  const text = consumerKey(config);
  router.get("/", async (ctx) => {
    const key = text === null ? null : await keys.find(text).catch(() => null);
    if (text === null || key?.kind !== "publishable" || !key.partner.enabled) {
      ctx.set("Cache-Control", "no-cache");
      moved(ctx, 302, "list");
    } else mapPage(ctx, { root: "", key: text, frameAncestors: ["'self'"] });
  });
}
