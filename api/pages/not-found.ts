import type { Context, Middleware } from "#api/http/context.ts";
import { Refused } from "#api/http/errors.ts";
import { apiBase } from "#api/http/route.ts";
import { html, sendPlainPage } from "#api/pages/html.ts";
import { type Language, pickLanguage } from "#api/pages/messages.ts";
import { refusals } from "#src/contract/refusals.ts";

/**
 * Answers a 404 beside the API with a page where a browser asks for one (`Accept: text/html`); whatever else asks gets
 * the problem object (decisions 9.10).
 */
export const notFoundPage: Middleware = async (ctx, next) => {
  try {
    await next();
  } catch (error) {
    const isMissing = error instanceof Refused && refusals[error.refusal.code].status === 404;
    if (!isMissing || !isPageAsked(ctx)) throw error;
    sendNotFound(ctx);
  }
};

const isPageAsked = (ctx: Context): boolean =>
  ["GET", "HEAD"].includes(ctx.method) &&
  !ctx.path.startsWith(`${apiBase}/`) &&
  ctx.get("accept").includes("text/html");

function sendNotFound(ctx: Context): void {
  const language = pickLanguage(null, ctx.get("accept-language"));
  const { title, map, list, docs } = texts[language];
  // The service may lie below a path of its host.
  const root = "../".repeat(ctx.path.split("/").length - 2) || "./";
  ctx.status = 404;
  ctx.set({ "Cache-Control": "no-store", Vary: "Accept, Accept-Language" });
  sendPlainPage(ctx, {
    ...{ language, title, css },
    policy: "form-action 'none'",
    parts: [
      html`<p><a class="main" href="${root}">${map}</a></p>`,
      html`<p><a href="${root}list">${list}</a></p>`,
      html`<p><a href="${root}docs">${docs}</a></p>`,
    ],
  });
}

const texts: Record<Language, Record<"title" | "map" | "list" | "docs", string>> = {
  en: {
    title: "There is no such page",
    map: "To the map",
    list: "All stations as a plain list",
    docs: "The API for developers",
  },
  ru: {
    title: "Такой страницы нет",
    map: "К карте",
    list: "Все станции списком",
    docs: "API для разработчиков",
  },
};

const css = `
:root { color-scheme: light dark; --ground: #f4f6f8; --surface: #fff; --text: #16202a; --link: #0b5cad; --on: #fff }
@media (prefers-color-scheme: dark) {
  :root { --ground: #101a23; --surface: #16212b; --text: #e6edf3; --link: #6db3ff; --on: #06121d }
}
body { font: 16px/1.5 system-ui, sans-serif; margin: 0; padding: 1rem; background: var(--ground); color: var(--text) }
main { max-width: 30rem; margin: 12vh auto 0; padding: 2rem; border-radius: 12px; background: var(--surface) }
h1 { font-size: 1.5rem; margin: 0 0 1.5rem }
a { color: var(--link) }
.main { display: inline-block; padding: .75rem 1.25rem; border-radius: 24px; background: var(--link); color: var(--on); font-weight: 600; text-decoration: none }
`;
