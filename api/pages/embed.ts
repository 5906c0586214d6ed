import type { Page } from "#api/http/app.ts";
import { builtPage, readBuilt } from "#api/pages/built-page.ts";
import { judgeWidgetKey } from "#api/pages/widget-key.ts";
import type { Services } from "#api/http/services.ts";
import type { EmbedKey } from "#src/contract/embed.ts";

/**
 * `/widget/embed`: where a partner chooses the map's parameters and copies the iframe's line, with a preview.
 * `/widget/embed/key` tells it what a publishable key is good for: no more than the map's own answer does.
 */
export function embedPage({ keys, config }: Services): Page {
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

  return async (ctx, next) => {
    const { path } = ctx.state;
    if (!["GET", "HEAD"].includes(ctx.method)) return next();
    if (path === "/widget/embed/")
      return { status: 308, headers: { Location: "../embed" }, body: "" };
    if (path === "/widget/embed") {
      const page = builtPage(built ?? null, { framesOwn: true });
      // The frame with the map is known by its referrer.
      return { ...page, headers: { ...page.headers, "Referrer-Policy": "same-origin" } };
    }
    if (path !== "/widget/embed/key") return next();
    const [, text = ""] = /^Bearer +(\S+)$/i.exec(ctx.get("authorization")) ?? [];
    return { headers: { "Cache-Control": "no-store" }, body: await about(text) };
  };
}
