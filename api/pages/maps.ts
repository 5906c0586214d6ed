import type { Context, PageRouter } from "#api/http/state.ts";
import type { Services } from "#api/http/services.ts";
import { moved, readBuilt, sendBuiltPage } from "#api/pages/built-page.ts";
import { pickLanguage } from "#api/pages/messages.ts";
import { refuseWidget, type WidgetRefusal } from "#api/pages/widget-refusal.ts";
import type { EmbedKeyState } from "#src/contract/embed.ts";
import { frameAncestors, isAllowedPage } from "#src/contract/hosts.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { basemapOf } from "#src/infrastructure/map-settings.ts";
import { consumerKey } from "#src/keys/consumer-key.ts";
import type { KeyInfo } from "#src/keys/key-info.ts";
import type { KeyStore } from "#src/keys/key-store.ts";

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

/** The key of a map, wherever the map is to stand; or why there is none. Rejects when keys cannot be looked up. */
export async function judgeWidgetKey(
  keys: Pick<KeyStore, "find">,
  text: string,
): Promise<KeyInfo | Exclude<EmbedKeyState, "ok">> {
  if (text === "") return "no-key";
  if (text.startsWith("svc_")) return "secret-key";
  const key = await keys.find(text);
  if (key === null) return "invalid-key";
  if (key.kind === "secret") return "secret-key";
  return key.partner.enabled ? key : "partner-disabled";
}

interface MapPage {
  /** Path from the page to the service's root: `../` or ``. */
  root: string;
  /** The key that the page itself brings along; the widget's comes with its address. */
  key?: string;
  frameAncestors: readonly string[];
}

/** Answers with the map's built page (web/widget), which stands at two addresses. */
function createMapPage(config: Config): (ctx: Context, page: MapPage) => void {
  const built = readBuilt("widget/index.html");
  const { url } = basemapOf(config);
  const hosts = /^https?:/i.test(url) ? [new URL(url).origin] : [];
  return (ctx, { root, key = "", frameAncestors }) => {
    const language = pickLanguage(null, ctx.get("accept-language"));
    const page =
      built
        ?.replace('<html lang="en">', `<html lang="${language}">`)
        .replace('name="key" content=""', `name="key" content="${key}"`)
        .replaceAll('="../', `="${root}`) ?? null;
    ctx.set({
      "Content-Language": language,
      "Referrer-Policy": "same-origin",
      Vary: "Accept-Language, Referer",
    });
    sendBuiltPage(ctx, page, { ancestors: frameAncestors, hosts, located: true });
  };
}
