import { existsSync } from "node:fs";
import { join } from "node:path";
import sirv, { type Options } from "sirv";
import { serveFile } from "#api/http/respond.ts";
import type { PageRouter } from "#api/http/route.ts";
import { isolatedHeaders } from "#api/pages/page-headers.ts";
import type { PageDeps } from "#api/pages/deps.ts";
import { dayS } from "#src/domain/units.ts";
import { projectRoot } from "#src/infrastructure/project-root.ts";

/** The folder in which `npm run build` puts the pages. */
export const builtFolder = join(projectRoot, "web", "dist");

const yearS = 365 * dayS;

/**
 * `/assets/*`: scripts, styles and pictures of all pages, precompressed, under names that hold their content's hash
 * and are therefore good for ever. `/service-worker.js`: the map's own, under one name for ever (decisions
 * 15.19). `/licences.txt`: those of the packages in the scripts. `/pictures/*`: pictures of shared pages for messengers (decisions 15.15).
 */
export function assetPages(router: PageRouter, services: PageDeps): void {
  if (!existsSync(join(builtFolder, "assets"))) return;
  const packed = { gzip: true, brotli: true, etag: true };
  const setHeaders: Options["setHeaders"] = (res) => {
    for (const [name, value] of Object.entries(isolatedHeaders)) res.setHeader(name, value);
  };
  const assets = sirv(builtFolder, { ...packed, immutable: true, maxAge: yearS, setHeaders });
  router.get("/assets/*file", async (ctx, next) => {
    if (!(await serveFile(services, ctx, assets))) await next();
  });
  // A worker serves the pages below its own address, so it lies at the root. Browsers look there for a newer one.
  const worker = sirv(builtFolder, {
    ...packed,
    setHeaders: (res) => {
      res.setHeader("Cache-Control", "no-cache");
      res.setHeader("Content-Security-Policy", "default-src 'none'; connect-src 'self'");
    },
  });
  router.get(["/service-worker.js", "/licences.txt"], async (ctx, next) => {
    if (!(await serveFile(services, ctx, worker))) await next();
  });
  // Messengers keep addresses, so these have no hash.
  const pictures = sirv(builtFolder, { etag: true, maxAge: dayS, setHeaders });
  router.get("/pictures/*file", async (ctx, next) => {
    if (!(await serveFile(services, ctx, pictures))) await next();
  });
}
