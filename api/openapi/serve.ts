import { type PackedFile, packFile, sendPacked } from "#api/http/negotiation.ts";
import { refused } from "#api/http/errors.ts";
import type { HttpDeps } from "#api/http/deps.ts";
import { apiBase, type Route, type PageRouter } from "#api/http/route.ts";
import { createDocument } from "#api/openapi/document.ts";
import { toOpenApi30 } from "#api/openapi/older.ts";

/** The path of the document. */
export const openApiPath = `${apiBase}/openapi.json`;
/** The same for tools that know only OpenAPI 3.0. */
export const openApi30Path = `${apiBase}/openapi-3.0.json`;
const allow = "GET, HEAD, OPTIONS";

/**
 * `GET /api/v1/partner/openapi.json` and `openapi-3.0.json`: public and not metered (decisions 8). The document
 * is made at the start, so that a fault in it shows there; the files when they are first asked for. Answers the document.
 */
export function openApiPages(
  router: PageRouter,
  { config }: Pick<HttpDeps, "config">,
  routes: readonly Route[],
): object {
  const document = createDocument(routes, config);
  for (const [path, make] of [
    [openApiPath, () => document],
    [openApi30Path, () => toOpenApi30(document)],
  ] as const) {
    let file: PackedFile | undefined;
    router.get(path, (ctx) => {
      // Made when first asked for: few are.
      file ??= packFile("json", Buffer.from(JSON.stringify(make())), "W/");
      ctx.set("Cache-Control", "public, no-cache");
      sendPacked(ctx, file);
    });
    router.all(path, (ctx) => {
      const headers = { Allow: allow };
      if (ctx.method !== "OPTIONS")
        throw refused("method-not-allowed", `Use one of: ${allow}.`, { headers });
      ctx.set(headers);
      ctx.status = 204;
    });
  }
  return document;
}
