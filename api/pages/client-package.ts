import { hash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { matchesEtag } from "#api/http/negotiation.ts";
import { serveFile } from "#api/http/respond.ts";
import type { PageRouter } from "#api/http/route.ts";
import type { PageDeps } from "#api/pages/deps.ts";
import { projectRoot } from "#src/infrastructure/project-root.ts";

/** The path of the TypeScript client, for `npm install`. */
export const clientPath = "/client.tgz";

const file = join(projectRoot, "dist", "client.tgz");

/**
 * `/client.tgz`: the client as `npm run build` has packed it, for the API of this very version (decisions 17.7).
 * Public and not metered. 404 in an installation without it.
 */
export function clientPackage(router: PageRouter, services: PageDeps): void {
  if (!existsSync(file)) return;
  let made: { bytes: Buffer; etag: string } | undefined;
  router.get(clientPath, async (ctx) => {
    made ??= read();
    const { bytes, etag } = made;
    ctx.set({ "Cache-Control": "public, no-cache", ETag: etag });
    if (matchesEtag(ctx.headers["if-none-match"], etag)) {
      ctx.status = 304;
      return;
    }
    // The file is packed already.
    await serveFile(services, ctx, ({ method }, res) => {
      res.setHeader("Content-Type", "application/gzip");
      res.setHeader("Content-Length", bytes.length);
      res.end(method === "HEAD" ? undefined : bytes);
    });
  });
}

/** Its ETag is of its content: the same on every machine, whenever it was built there. */
function read(): { bytes: Buffer; etag: string } {
  const bytes = readFileSync(file);
  return { bytes, etag: `"${hash("sha1", bytes, "base64url").slice(0, 22)}"` };
}
