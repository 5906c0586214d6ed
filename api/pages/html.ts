import { hash } from "node:crypto";
import type { Context } from "#api/http/context.ts";
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
  return {
    html: strings.map((text, i) => text + (i < parts.length ? render(parts[i]!) : "")).join(""),
  };
}

function render(part: Part): string {
  if (part === null) return "";
  if (typeof part === "string" || typeof part === "number") {
    return String(part).replace(/[&<>"']/g, (character) => entities[character]!);
  }
  return "html" in part ? part.html : part.map((piece) => piece.html).join("");
}

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
