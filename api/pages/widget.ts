import type { PageRouter } from "#api/http/state.ts";
import { moved } from "#api/pages/built-page.ts";
import { createMapPage } from "#api/pages/map-page.ts";
import { judgeWidgetKey } from "#api/pages/widget-key.ts";
import { refuseWidget, type WidgetRefusal } from "#api/pages/widget-refusal.ts";
import type { Services } from "#api/http/services.ts";
import { frameAncestors, isAllowedPage } from "#src/contract/hosts.ts";
import type { KeyInfo } from "#src/keys/key-info.ts";

/**
 * `/widget/`: the map for a partner's iframe (docs/contract.md 4.11). Only the key's domains may frame it, and the page
 * that embeds it is looked at when it is loaded (docs/decisions.md 8).
 */
export function widgetPages(router: PageRouter, { keys, config }: Services): void {
  const mapPage = createMapPage(config);

  const judge = async (text: string, referer: string): Promise<KeyInfo | WidgetRefusal> => {
    const key = await judgeWidgetKey(keys, text);
    if (typeof key === "string") return key;
    return isAllowedPage({ referer }, key.domains, config.baseUrl) ? key : "domain-not-allowed";
  };

  router.get("/widget", (ctx) => {
    ctx.set("Cache-Control", "no-cache");
    moved(ctx, 308, `widget/${ctx.search}`);
  });
  router.get("/widget/", async (ctx) => {
    const text = new URLSearchParams(ctx.querystring).get("key")?.trim() ?? "";
    const key = await judge(text, ctx.get("referer")).catch(() => "unavailable" as const);
    if (typeof key === "string") refuseWidget(ctx, key);
    else mapPage(ctx, { root: "../", frameAncestors: frameAncestors(key.domains) });
  });
}
