import { builtPage, readBuilt } from "#api/pages/built-page.ts";
import { pickLanguage } from "#api/pages/messages.ts";
import type { Reply } from "#api/http/route.ts";
import { basemapOf } from "#src/infrastructure/map-settings.ts";
import type { Config } from "#src/infrastructure/config.ts";

interface MapPage {
  /** Path from the page to the service's root: `../` or ``. */
  root: string;
  /** The key that the page itself brings along; the widget's comes with its address. */
  key?: string;
  frameAncestors: readonly string[];
  acceptLanguage: string | undefined;
}

/** Answers with the map's built page (web/widget), which stands at two addresses. */
export function createMapPage(config: Config): (page: MapPage) => Reply {
  const built = readBuilt("widget/index.html");
  const { url } = basemapOf(config);
  const hosts = /^https?:/i.test(url) ? [new URL(url).origin] : [];
  return ({ root, key = "", frameAncestors, acceptLanguage }) => {
    const language = pickLanguage(null, acceptLanguage);
    const body =
      built
        ?.replace('<html lang="en">', `<html lang="${language}">`)
        .replace('name="key" content=""', `name="key" content="${key}"`)
        .replaceAll('="../', `="${root}`) ?? null;
    const reply = builtPage(body, { frameAncestors, hosts });
    return {
      ...reply,
      headers: {
        ...reply.headers,
        "Content-Language": language,
        "Referrer-Policy": "same-origin",
        Vary: "Accept-Language, Referer",
      },
    };
  };
}
