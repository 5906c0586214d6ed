import type { Page } from "#api/http/app.ts";
import { createMapPage } from "#api/pages/map-page.ts";
import type { Services } from "#api/http/services.ts";
import { consumerKey } from "#src/keys/consumer-key.ts";

/**
 * `/`: the consumer map, the widget's page with the operator's own key. Where that key is not in force, the plain
 * list.
 */
export function consumerMapPage({ keys, config }: Services): Page {
  const mapPage = createMapPage(config);
  const text = consumerKey(config);
  return async (ctx, next) => {
    if (ctx.state.path !== "/" || !["GET", "HEAD"].includes(ctx.method)) return next();
    const key = text === null ? null : await keys.find(text).catch(() => null);
    if (text === null || key?.kind !== "publishable" || !key.partner.enabled)
      return {
        status: 302,
        headers: { Location: "list", "Cache-Control": "no-cache" },
        body: "",
      };
    return mapPage({
      root: "",
      key: text,
      frameAncestors: ["'self'"],
      acceptLanguage: ctx.get("accept-language"),
    });
  };
}
