import { hash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { pickEncoding } from "#api/http/encoding.ts";
import { matchesEtag } from "#api/http/etag.ts";
import { refused } from "#api/http/errors.ts";
import { sendJson } from "#api/http/respond.ts";
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
  const plain = Buffer.from(JSON.stringify(createDocument(routes, config.problemBase)));
  const packed = gzipSync(plain);
  const etag = `W/"${hash("sha1", plain, "base64url").slice(0, 22)}"`;
  router.get(openApiPath, (ctx) => {
    ctx.set({ ETag: etag, "Cache-Control": "public, no-cache" });
    if (matchesEtag(ctx.headers["if-none-match"], etag)) {
      ctx.status = 304;
      return;
    }
    const gzip = pickEncoding(ctx.get("Accept-Encoding"), ["gzip"]) === "gzip";
    if (gzip) ctx.set("Content-Encoding", "gzip");
    sendJson(ctx, gzip ? packed : plain);
  });
  router.all(openApiPath, (ctx) => {
    const headers = { Allow: allow };
    if (ctx.method !== "OPTIONS")
      throw refused("method-not-allowed", `Use one of: ${allow}.`, { headers });
    ctx.set(headers);
    ctx.status = 204;
  });
}
