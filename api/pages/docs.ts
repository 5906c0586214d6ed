import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { extname } from "node:path";
import { packFile, type PackedFile, sendPacked } from "#api/http/etag.ts";
import type { PageRouter } from "#api/http/state.ts";
import { pageHeaders } from "#api/pages/page-headers.ts";
import { openApiPath } from "#api/openapi/serve.ts";

const base = "/docs";
const require = createRequire(import.meta.url);

/**
 * `/docs`: the OpenAPI document for people, in a viewer that is served from here. It runs under a policy that allows
 * this server alone and nothing inline; pictures in its style sheet are `data:`.
 */
export function docsPages(router: PageRouter): void {
  const files = new Map<string, PackedFile>();
  for (const [path, read] of Object.entries(sources)) {
    router.get(path, (ctx) => {
      // When first asked for: most processes never are.
      const file = files.get(path) ?? packFile(extname(path) || "html", read());
      files.set(path, file);
      ctx.set({
        // The names do not change with a new version of the viewer.
        "Cache-Control": path === base ? "no-cache" : "public, max-age=86400",
        ...pageHeaders(policy),
        "Referrer-Policy": "no-referrer",
      });
      sendPacked(ctx, file);
    });
  }
}

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'";

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Partner Fuel-Availability API</title>
<link rel="icon" href="${base}/icon.png">
<link rel="stylesheet" href="${base}/viewer.css">
<link rel="stylesheet" href="${base}/page.css">
<nav><a href="/status">Service status</a></nav>
<div id="viewer"><p><a href="${openApiPath}">The description as JSON</a></p></div>
<script src="${base}/viewer.js"></script>
<script src="${base}/page.js"></script>
</html>
`;

// Read only: keys do not belong into a page.
const script = `SwaggerUIBundle({
  url: ${JSON.stringify(openApiPath)},
  domNode: document.getElementById("viewer"),
  supportedSubmitMethods: [],
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
});
`;
const style = `body { margin: 0 }
nav { max-width: 1460px; margin: 0 auto; padding: 12px 20px 0; font: 15px/1.4 system-ui, sans-serif }
nav a { color: #0b5fae }
.scheme-container, .authorization__btn { display: none }
.opblock-body { overflow-x: auto }
.opblock-body table { overflow-wrap: anywhere }
`;

/** By path; its ending says the type. */
const sources: Record<string, () => Buffer> = {
  [base]: () => Buffer.from(page),
  [`${base}/page.js`]: () => Buffer.from(script),
  [`${base}/page.css`]: () => Buffer.from(style),
  [`${base}/viewer.js`]: () =>
    readFileSync(require.resolve("swagger-ui-dist/swagger-ui-bundle.js")),
  [`${base}/viewer.css`]: () => readFileSync(require.resolve("swagger-ui-dist/swagger-ui.css")),
  [`${base}/icon.png`]: () => readFileSync(require.resolve("swagger-ui-dist/favicon-32x32.png")),
};
