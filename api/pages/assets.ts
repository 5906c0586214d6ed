import { existsSync } from "node:fs";
import { join } from "node:path";
import sirv from "sirv";
import { serveFile } from "#api/http/respond.ts";
import type { PageRouter } from "#api/http/state.ts";
import type { Services } from "#api/http/services.ts";
import { projectRoot } from "#src/infrastructure/project-root.ts";

/** Where `npm run build` puts the pages. */
export const builtFolder = join(projectRoot, "web", "dist");

/**
 * `/assets/*`: scripts, styles and pictures of all pages, precompressed, under names that hold their content's hash
 * and are therefore good for ever.
 */
export function assetPages(router: PageRouter, services: Services): void {
  if (!existsSync(join(builtFolder, "assets"))) return;
  const serve = sirv(builtFolder, {
    gzip: true,
    brotli: true,
    etag: true,
    immutable: true,
    maxAge: 31_536_000,
  });
  router.get("/assets/*file", async (ctx, next) => {
    if (!(await serveFile(services, ctx, serve))) await next();
  });
}
