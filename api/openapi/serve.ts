import { hash } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { Page } from "#api/http/app.ts";
import { pickEncoding } from "#api/http/encoding.ts";
import { matchesEtag } from "#api/http/etag.ts";
import { createDocument } from "#api/openapi/document.ts";
import { apiBase } from "#api/http/router.ts";
import type { Route } from "#api/http/route.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { refuse } from "#src/contract/refusals.ts";

/** Where the document is. */
export const openApiPath = `${apiBase}/openapi.json`;
const allow = "GET, HEAD, OPTIONS";

/** `GET /api/v1/partner/openapi.json`: public and not metered (decisions.md 8). Made once, at the start. */
export function serveOpenApi({ problemBase }: Config, routes: readonly Route[]): Page {
  const plain = Buffer.from(JSON.stringify(createDocument(routes, problemBase)));
  const packed = gzipSync(plain);
  const etag = `W/"${hash("sha1", plain, "base64url").slice(0, 22)}"`;
  const always = { ETag: etag, "Cache-Control": "public, no-cache" };
  return (ctx, next) => {
    if (ctx.state.path !== openApiPath) return next();
    if (ctx.method === "OPTIONS") return { status: 204, headers: { Allow: allow } };
    if (ctx.method !== "GET" && ctx.method !== "HEAD")
      return refuse("method-not-allowed", `Use one of: ${allow}.`, { headers: { Allow: allow } });
    if (matchesEtag(ctx.req.headers["if-none-match"], etag))
      return { status: 304, headers: always };
    const gzip = pickEncoding(ctx.get("Accept-Encoding"), ["gzip"]) === "gzip";
    return {
      headers: { ...always, ...(gzip ? { "Content-Encoding": "gzip" } : {}) },
      body: gzip ? packed : plain,
    };
  };
}
