import type { Page } from "#api/http/app.ts";
import { createMapPage } from "#api/pages/map-page.ts";
import { judgeWidgetKey } from "#api/pages/widget-key.ts";
import { refuseWidget, type WidgetRefusal } from "#api/pages/widget-refusal.ts";
import type { Services } from "#api/http/services.ts";
import { frameAncestors, isAllowedPage } from "#src/contract/hosts.ts";
import type { KeyInfo } from "#src/keys/key-info.ts";

/**
 * `/widget/`: the map for a partner's iframe (partner-api.md 4.11). Only the key's domains may frame it, and the page
 * that embeds it is looked at when it is loaded (decisions.md 8).
 */
export function widgetPage({ keys, config }: Services): Page {
  const mapPage = createMapPage(config);

  const judge = async (text: string, referer: string): Promise<KeyInfo | WidgetRefusal> => {
    const key = await judgeWidgetKey(keys, text);
    if (typeof key === "string") return key;
    return isAllowedPage({ referer }, key.domains, config.baseUrl) ? key : "domain-not-allowed";
  };

  return async (ctx, next) => {
    const { path, search } = ctx.state;
    if (!["GET", "HEAD"].includes(ctx.method)) return next();
    if (path === "/widget") return moved(`widget/${search === "" ? "" : `?${search}`}`);
    if (path !== "/widget/") return next();
    const acceptLanguage = ctx.get("accept-language");
    const text = new URLSearchParams(search).get("key")?.trim() ?? "";
    const key = await judge(text, ctx.get("referer")).catch(() => "unavailable" as const);
    if (typeof key === "string") return refuseWidget(key, acceptLanguage);
    const ancestors = frameAncestors(key.domains);
    return mapPage({ root: "../", frameAncestors: ancestors, acceptLanguage });
  };
}

const moved = (to: string) => ({
  status: 308,
  headers: { Location: to, "Cache-Control": "no-cache" },
  body: "",
});
