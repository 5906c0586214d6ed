import { readBuilt, sendBuiltPage } from "#api/pages/built-page.ts";
import { pickLanguage } from "#api/pages/messages.ts";
import type { Context } from "#api/http/state.ts";
import { basemapOf } from "#src/infrastructure/map-settings.ts";
import type { Config } from "#src/infrastructure/config.ts";

interface MapPage {
  /** Path from the page to the service's root: `../` or ``. */
  root: string;
  /** The key that the page itself brings along; the widget's comes with its address. */
  key?: string;
  frameAncestors: readonly string[];
}

/** Answers with the map's built page (web/widget), which stands at two addresses. */
export function createMapPage(config: Config): (ctx: Context, page: MapPage) => void {
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
    sendBuiltPage(ctx, page, { frameAncestors, hosts });
  };
}
