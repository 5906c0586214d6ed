import type { Context } from "#api/http/route.ts";
import { html, sendPlainPage } from "#api/pages/html.ts";
import { type Messages, messagesOf, pickLanguage } from "#api/pages/messages.ts";

/** Why a widget's page has no map. */
export type WidgetRefusal = keyof Messages["noMap"];

const statuses: Record<WidgetRefusal, number> = {
  "no-key": 401,
  "invalid-key": 401,
  "secret-key": 403,
  "domain-not-allowed": 403,
  "partner-disabled": 403,
  unavailable: 503,
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

/**
 * A page without a map that says why, in the viewer's language. Any page may frame it, else the viewer would see
 * nothing: it holds nothing to click and nothing secret.
 */
export function refuseWidget(ctx: Context, why: WidgetRefusal): void {
  const language = pickLanguage(null, ctx.get("accept-language"));
  const { title, what } = messagesOf(language).noMap[why];
  ctx.status = statuses[why];
  ctx.set({
    "Cache-Control": "no-store",
    Vary: "Accept-Language, Referer",
    ...(why === "unavailable" ? { "Retry-After": "5" } : {}),
  });
  const policy = "form-action 'none'";
  const parts = [html`<p>${what}</p>`, html`<code>${why}</code>`];
  sendPlainPage(ctx, { language, title, css, policy, parts, ancestors: ["*"] });
}
