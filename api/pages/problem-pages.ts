import type { PageRouter } from "#api/http/context.ts";
import type { PageDeps } from "#api/pages/deps.ts";
import { pageHeaders } from "#api/pages/page-headers.ts";
import { refusals, type ProblemCode } from "#src/contract/refusals.ts";

const prefix = "/problems";

/** `/problems/<code>`: where the `type` of a problem leads; `/problems`: all of them (decisions 9). */
export function problemPages(router: PageRouter, { config }: Pick<PageDeps, "config">): void {
  const pages = new Map<string, string>([[prefix, indexPage()]]);
  for (const code of codes) pages.set(`${prefix}/${code}`, codePage(code, config.problemBase));
  for (const [path, page] of pages) {
    router.get(path, (ctx) => {
      ctx.set({
        "Content-Type": "text/html; charset=utf-8",
        ...pageHeaders(policy),
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "public, max-age=3600",
      });
      ctx.body = page;
    });
  }
}

const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

const codes = Object.keys(refusals) as ProblemCode[];

function codePage(code: ProblemCode, base: string): string {
  const { status, title, advice } = refusals[code];
  return html(
    `${code} – ${title}`,
    `<p><a href="${prefix}">All problems</a></p>
<h1><code>${code}</code></h1>
<p class="title">${escape(title)}</p>
<dl>
<dt>HTTP status</dt><dd>${status}</dd>
<dt>type</dt><dd><code>${escape(`${base}/${code}`)}</code></dd>
<dt>What to do</dt><dd>${escape(advice)}</dd>
</dl>${status === 503 ? '\n<p><a href="/status">How the service is now</a></p>' : ""}`,
  );
}

function indexPage(): string {
  const lines = codes.map((code) => {
    const { status, title } = refusals[code];
    return `<tr><td>${status}</td><td><a href="${prefix}/${code}"><code>${code}</code></a></td><td>${escape(title)}</td></tr>`;
  });
  return html(
    "Problems of the API",
    `<h1>Problems of the API</h1>
<p>Every error is <code>application/problem+json</code> (RFC 9457); the last part of its <code>type</code> is one of these codes.</p>
<table><tr><th>Status</th><th>Code</th><th>Meaning</th></tr>
${lines.join("\n")}
</table>`,
  );
}

const html = (title: string, body: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)}</title>
<style>
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem }
.title { font-size: 1.25rem }
dt { font-weight: 600; margin-top: 1rem } dd { margin: 0 }
table { border-collapse: collapse } td, th { text-align: left; padding: .25rem .75rem .25rem 0 }
code { overflow-wrap: anywhere }
</style>
<body>
${body}
</body>
</html>
`;

const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escape = (text: string): string => text.replace(/[&<>"]/g, (sign) => escapes[sign] as string);
