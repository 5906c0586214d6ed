import type { PageRouter } from "#api/http/route.ts";
import { moved, readBuilt, sendBuiltPage } from "#api/pages/built-page.ts";
import { consumerKeyInForce } from "#api/pages/map-page.ts";
import { judgeWidgetKey } from "#api/pages/maps.ts";
import type { PageDeps } from "#api/pages/deps.ts";
import type { EmbedKey } from "#src/contract/embed.ts";

/**
 * `/widget/embed`: where a partner chooses the map's parameters and copies the iframe's line, with a preview.
 * `/widget/embed/key` tells it what a publishable key is good for: no more than the map's own answer does.
 */
export function embedPages(router: PageRouter, services: PageDeps): void {
  const { keys, config } = services;
  const built = readBuilt("embed/index.html")?.replace(
    'name="base" content=""',
    `name="base" content="${new URL(config.baseUrl).href}"`,
  );

  const about = async (text: string): Promise<EmbedKey> => {
    const key = await judgeWidgetKey(keys, text).catch(() => "unavailable" as const);
    return typeof key === "string"
      ? { state: key, domains: [], reports: false }
      : { state: "ok", domains: key.domains, reports: key.reports };
  };

  router.get("/widget/embed/", (ctx) => moved(ctx, 308, "../embed"));
  router.get("/widget/embed", async (ctx) => {
    const sample = (await consumerKeyInForce(services)) === null ? "" : "1";
    const page = built?.replace('name="sample" content=""', `name="sample" content="${sample}"`);
    // The frame with the map is known by its referrer.
    ctx.set("Referrer-Policy", "same-origin");
    sendBuiltPage(ctx, page ?? null, { framesOwn: true, located: true });
  });
  router.get("/widget/embed/key", async (ctx) => {
    const [, text = ""] = /^Bearer +(\S+)$/i.exec(ctx.get("authorization")) ?? [];
    ctx.set("Cache-Control", "no-store");
    ctx.body = await about(text);
  });
}
