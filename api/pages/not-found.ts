import { type Context, type Middleware, apiBase } from "#api/http/route.ts";
import { Refused } from "#api/http/errors.ts";
import { cardCss, html, sendPlainPage } from "#api/pages/html.ts";
import { languageOf, languageVary, type Language, messagesOf } from "#api/pages/messages.ts";
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
  const language = languageOf(ctx);
  const { toMap, wholeList } = messagesOf(language);
  const { title, docs } = texts[language];
  // The service may lie below a path of its host.
  const root = "../".repeat(ctx.path.split("/").length - 2) || "./";
  ctx.status = 404;
  ctx.set({ "Cache-Control": "no-store", Vary: `Accept, ${languageVary}` });
  sendPlainPage(ctx, {
    ...{ language, title, css: cardCss },
    policy: "form-action 'none'",
    parts: [
      html`<p><a class="main" href="${root}">${toMap}</a></p>`,
      html`<p><a href="${root}list">${wholeList}</a></p>`,
      html`<p><a href="${root}docs">${docs}</a></p>`,
    ],
  });
}

const texts: Record<Language, Record<"title" | "docs", string>> = {
  en: {
    title: "There is no such page",
    docs: "The API for developers",
  },
  ru: {
    title: "Такой страницы нет",
    docs: "API для разработчиков",
  },
};
