import { hash } from "node:crypto";
import type { Context } from "#api/http/route.ts";
import type { Language } from "#api/pages/messages.ts";
import { pageHeaders, type PageRights } from "#api/pages/page-headers.ts";

/** The HTML entities of characters that have a meaning there. */
export const entities: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** HTML that may be put into a page as it is. */
export interface Html {
  html: string;
}

type Part = string | number | Html | readonly Html[] | null;

/** A template for HTML: whatever is put in is text and escaped, unless it is HTML already. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  let text = strings[0]!;
  for (let i = 0; i < parts.length; i++) text += render(parts[i]!) + strings[i + 1]!;
  return { html: text };
}

function render(part: Part): string {
  if (part === null) return "";
  if (typeof part === "number") return String(part);
  if (typeof part === "string") {
    return part.replace(/[&<>"']/g, (character) => entities[character]!);
  }
  return "html" in part ? part.html : part.map((piece) => piece.html).join("");
}

/** The look of the small pages: a card on the ground of the map's colours. */
export const cardCss = `
:root { color-scheme: light dark; --ground: #f4f6f8; --surface: #fff; --text: #16202a; --line: #d7dde3; --link: #0b5cad; --on: #fff }
@media (prefers-color-scheme: dark) {
  :root { --ground: #101a23; --surface: #16212b; --text: #e6edf3; --line: #2c3a46; --link: #6db3ff; --on: #06121d }
}
body { font: 16px/1.5 system-ui, sans-serif; margin: 0; padding: 1rem; background: var(--ground); color: var(--text) }
main { max-width: 46rem; margin: min(5vh, 2rem) auto; padding: clamp(1rem, 4vw, 2rem); border-radius: 12px; background: var(--surface) }
h1 { font-size: min(1.75rem, 7vw); line-height: 1.25; margin: 0 0 1rem; overflow-wrap: anywhere }
a { color: var(--link) }
dt { font-weight: 600; margin-top: 1rem } dd { margin: 0 }
table { border-collapse: collapse } td, th { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--line) }
code { overflow-wrap: anywhere }
.main { display: inline-block; padding: .75rem 1.25rem; border-radius: 24px; background: var(--link); color: var(--on); font-weight: 600; text-decoration: none }
`;

/** A page without scripts: its own style is all that it may load. */
interface PlainPage extends PageRights {
  language: Language;
  title: string;
  css: string;
  /** The rest of the content security policy. */
  policy: string;
  /** The page's parts after the title. */
  parts: Html[];
  /** Tags for the head in place of the title. */
  tags?: Html;
}

/** Answers with a page that a server makes whole. Its policy allows its style by hash. */
export function sendPlainPage(ctx: Context, page: PlainPage): void {
  const {
    language,
    title,
    css,
    policy,
    parts,
    tags = html`<title>${title}</title>`,
    ...rights
  } = page;
  // The formatter may lay out the template anew, but the hash is of every character of the style.
  const style: Html = { html: `<style>${css}</style>` };
  ctx.set({
    "Content-Type": "text/html; charset=utf-8",
    "Content-Language": language,
    ...pageHeaders(
      `default-src 'none'; style-src 'sha256-${hash("sha256", css, "base64")}'; base-uri 'none'; ${policy}`,
      rights,
    ),
    "Referrer-Policy": "no-referrer",
  });
  const main: Html = { html: parts.map((part) => part.html).join("\n          ") };
  ctx.body = html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width,initial-scale=1" />
        ${tags} ${style}
      </head>
      <body>
        <main>
          <h1>${title}</h1>
          ${main}
        </main>
      </body>
    </html> `.html;
}
