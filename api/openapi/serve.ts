import { packFile, sendPacked } from "#api/http/etag.ts";
import { refused } from "#api/http/errors.ts";
import { apiBase, type Route } from "#api/http/route.ts";
import type { PageRouter } from "#api/http/state.ts";
import type { Services } from "#api/http/services.ts";
import { createDocument } from "#api/openapi/document.ts";

/** Where the document is. */
export const openApiPath = `${apiBase}/openapi.json`;
const allow = "GET, HEAD, OPTIONS";

/** `GET /api/v1/partner/openapi.json`: public and not metered (docs/decisions.md 8). Made once, at the start. */
export function openApiPage(
  router: PageRouter,
  { config }: Pick<Services, "config">,
  routes: readonly Route[],
): void {
  const document = createDocument(routes, config.problemBase);
  const file = packFile("json", Buffer.from(JSON.stringify(document)), "W/");
  router.get(openApiPath, (ctx) => {
    ctx.set("Cache-Control", "public, no-cache");
    sendPacked(ctx, file);
  });
  router.all(openApiPath, (ctx) => {
    const headers = { Allow: allow };
    if (ctx.method !== "OPTIONS")
      throw refused("method-not-allowed", `Use one of: ${allow}.`, { headers });
    ctx.set(headers);
    ctx.status = 204;
  });
}
