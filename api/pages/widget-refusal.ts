import { hash } from "node:crypto";
import { html, type Html } from "#api/pages/html.ts";
import { type Language, pickLanguage } from "#api/pages/messages.ts";
import type { Context } from "#api/http/state.ts";

/** Why a widget's page has no map. */
export type WidgetRefusal =
  | "no-key"
  | "invalid-key"
  | "secret-key"
  | "domain-not-allowed"
  | "partner-disabled"
  | "unavailable";

const statuses: Record<WidgetRefusal, number> = {
  "no-key": 401,
  "invalid-key": 401,
  "secret-key": 403,
  "domain-not-allowed": 403,
  "partner-disabled": 403,
  unavailable: 503,
};

interface Text {
  title: string;
  what: string;
}

const texts: Record<Language, Record<WidgetRefusal, Text>> = {
  en: {
    "no-key": {
      title: "The map needs a key",
      what: "The address of this frame has no “key” parameter. Put in the publishable key (pk_live_…) that the operator gave you.",
    },
    "invalid-key": {
      title: "This key is not valid",
      what: "It is mistyped, has been revoked or has expired. Check the “key” parameter, or ask the operator for a new publishable key.",
    },
    "secret-key": {
      title: "This is a secret key",
      what: "A secret key (svc_live_…) belongs on a server and never in a page. Everyone who has seen this page can use it: have it revoked, and put in a publishable key (pk_live_…).",
    },
    "domain-not-allowed": {
      title: "The map is not for this website",
      what: "Its key is bound to other domains. The operator can add this one.",
    },
    "partner-disabled": {
      title: "The map is switched off",
      what: "Access with this key is switched off. The operator can switch it on again.",
    },
    unavailable: {
      title: "The map is not available just now",
      what: "Try again in a few seconds.",
    },
  },
  ru: {
    "no-key": {
      title: "Карте нужен ключ",
      what: "В адресе этой рамки нет параметра «key». Укажите публичный ключ (pk_live_…), который выдал оператор.",
    },
    "invalid-key": {
      title: "Ключ недействителен",
      what: "В нём опечатка, он отозван или истёк. Проверьте параметр «key» или попросите у оператора новый публичный ключ.",
    },
    "secret-key": {
      title: "Это секретный ключ",
      what: "Секретный ключ (svc_live_…) хранят на сервере и не показывают на страницах. Его мог скопировать каждый, кто видел эту страницу: отзовите его и укажите публичный ключ (pk_live_…).",
    },
    "domain-not-allowed": {
      title: "Карта не для этого сайта",
      what: "Её ключ привязан к другим доменам. Оператор может добавить этот.",
    },
    "partner-disabled": {
      title: "Карта выключена",
      what: "Доступ по этому ключу выключен. Оператор может включить его снова.",
    },
    unavailable: {
      title: "Карта сейчас недоступна",
      what: "Попробуйте ещё раз через несколько секунд.",
    },
  },
};

const css = `
:root { color-scheme: light dark; --ink: #16202a; --soft: #52616f; --page: #f4f6f8; --card: #fff; --line: #d5dbe1; }
@media (prefers-color-scheme: dark) { :root { --ink: #eaf0f5; --soft: #a3b2bf; --page: #0e141a; --card: #151d25; --line: #31404e; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 16px; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 440px; padding: 24px; background: var(--card); border: 1px solid var(--line); border-radius: 10px; }
h1 { margin: 0 0 8px; font-size: 1.25rem; line-height: 1.3; }
p { margin: 0; color: var(--soft); overflow-wrap: anywhere; }
code { display: inline-block; margin-top: 16px; color: var(--soft); font-size: .85rem; }
`;
const styleHash = hash("sha256", css, "base64");
const style: Html = { html: `<style>${css}</style>` };

/**
 * A page without a map that says why, in the viewer's language. Any page may frame it, else nobody would read it:
 * there is nothing on it to click or to learn.
 */
export function refuseWidget(ctx: Context, why: WidgetRefusal): void {
  const language = pickLanguage(null, ctx.get("accept-language"));
  const { title, what } = texts[language][why];
  const page = html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width,initial-scale=1" />
        <title>${title}</title>
        ${style}
      </head>
      <body>
        <main>
          <h1>${title}</h1>
          <p>${what}</p>
          <code>${why}</code>
        </main>
      </body>
    </html> `;
  ctx.status = statuses[why];
  ctx.set({
    "Content-Type": "text/html; charset=utf-8",
    "Content-Language": language,
    "Cache-Control": "no-store",
    Vary: "Accept-Language, Referer",
    "Content-Security-Policy": `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors *`,
    "Referrer-Policy": "no-referrer",
    ...(why === "unavailable" ? { "Retry-After": "5" } : {}),
  });
  ctx.body = page.html;
}
