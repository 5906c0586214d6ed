import type { Context } from "#api/http/route.ts";
import type { PageDeps } from "#api/pages/deps.ts";
import { readBuilt, sendBuiltPage } from "#api/pages/built-page.ts";
import { type Beginning, earlyList } from "#api/pages/early-list.ts";
import { html, type Html } from "#api/pages/html.ts";
import { type Language, messagesOf } from "#api/pages/messages.ts";
import { creditLine } from "#api/pages/station-text.ts";
import { installTags } from "#api/pages/web-manifest.ts";
import { basemapHost } from "#src/infrastructure/map-settings.ts";
import { consumerKey } from "#src/keys/consumer-key.ts";

/** The key of the map at `/`; null when it is not in force. */
export async function consumerKeyInForce({ keys, config }: PageDeps): Promise<string | null> {
  const text = consumerKey(config);
  const key = text === null ? null : await keys.find(text).catch(() => null);
  return key?.kind === "publishable" && key.partner.enabled ? text : null;
}

interface MapPage extends Beginning {
  /** Path from the page to the service's root: `../` or ``. */
  root: string;
  /** The key that the page itself brings along; the widget's comes with its address. */
  key?: string;
  frameAncestors: readonly string[];
  language: Language;
  /** The page begins with an answer and not with its map (decisions 15.43). */
  answers: boolean;
  /** Tags in place of the built page's title. */
  tags?: Html;
  /** The station whose card is open at the start. */
  station?: string;
}

/** Answers with the map's built page (web/widget), which stands at several addresses. */
export function createMapPage(services: PageDeps): (ctx: Context, page: MapPage) => void {
  const { config, clock } = services;
  const built = readBuilt("widget/index.html");
  const host = basemapHost(config);
  const hosts = host === null ? [] : [host];
  return (ctx, { root, key = "", language, station = "", ...page }) => {
    const { stationsAt, nearest } = messagesOf(language);
    const where = page.place?.city ?? "";
    const title = page.answers ? nearest(page.fuel, where) : stationsAt(where);
    const credit = creditLine(services, language);
    const list = earlyList({ ...page, ...{ root, language, title, credit, now: clock() } });
    const text =
      built
        ?.replace('<html lang="en">', `<html lang="${language}">`)
        .replace('name="key" content=""', `name="key" content="${key}"`)
        .replaceAll('="../', `="${root}`)
        // Replacements are functions where a text may hold signs that `replace` understands.
        .replace('name="station" content=""', () => html`name="station" content="${station}"`.html)
        .replace(/<title>.*?<\/title>/, (own) => page.tags?.html ?? own)
        .replace("</head>", (end) => (key === "" ? "" : installTags(root, language).html) + end)
        .replace(
          '<p id="loading"></p>',
          `<p id="loading" role="status">${messagesOf(language).loading}</p>` +
            // The style sheet hides it; a sandbox that has no origin keeps that out as well.
            (key === "" ? html`<p class="unstyled">${messagesOf(language).unstyled}</p>`.html : ""),
        )
        .replace('<section id="early"></section>', () => list.html) ?? null;
    ctx.set({
      "Content-Language": language,
      "Referrer-Policy": "same-origin",
      Vary: "Accept-Language, Cookie, Referer",
    });
    sendBuiltPage(ctx, text, { ancestors: page.frameAncestors, hosts, located: true });
  };
}
