import type { PageRouter } from "#api/http/route.ts";
import { html, type Html } from "#api/pages/html.ts";
import { type Language, messagesOf, pickLanguage } from "#api/pages/messages.ts";

const colours = { light: "#ffffff", dark: "#151d25" };

const icon = (file: string, size: number, purpose: "any" | "maskable") => ({
  ...{ src: `pictures/${file}`, sizes: `${size}x${size}`, type: "image/png", purpose },
});

/** `/manifest.webmanifest`: with it a phone puts the map at `/` among its applications (decisions 15.19). */
export function webManifest(router: PageRouter): void {
  router.get("/manifest.webmanifest", (ctx) => {
    const given = new URLSearchParams(ctx.querystring).get("lang");
    const language = pickLanguage(given, ctx.get("accept-language"));
    const { siteName, siteDescription, siteShortName } = messagesOf(language);
    ctx.set({
      "Content-Type": "application/manifest+json; charset=utf-8",
      "Cache-Control": "public, max-age=3600",
      Vary: "Accept-Language",
    });
    ctx.body = JSON.stringify({
      ...{ id: "./", start_url: "./", scope: "./", display: "standalone" },
      ...{ name: siteName, short_name: siteShortName, description: siteDescription },
      ...{ lang: language, dir: "ltr", categories: ["navigation", "travel", "utilities"] },
      ...{ theme_color: colours.light, background_color: colours.light },
      icons: [
        icon("icon-192.png", 192, "any"),
        icon("icon-512.png", 512, "any"),
        icon("icon-maskable-512.png", 512, "maskable"),
      ],
    });
  });
}

/** Tags by which a phone can install the operator's own map; never for a partner's frame. */
export const installTags = (root: string, language: Language): Html =>
  html`<link rel="manifest" href="${root}manifest.webmanifest?lang=${language}" />
    <link rel="apple-touch-icon" href="${root}pictures/icon-apple-180.png" />
    <meta name="theme-color" media="(prefers-color-scheme: light)" content="${colours.light}" />
    <meta name="theme-color" media="(prefers-color-scheme: dark)" content="${colours.dark}" />`;
