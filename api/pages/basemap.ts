import type { Stats } from "node:fs";
import { basename, dirname, join } from "node:path";
import send from "send";
import { refused } from "#api/http/errors.ts";
import { serveFile } from "#api/http/respond.ts";
import type { PageRouter } from "#api/http/route.ts";
import type { PageDeps } from "#api/pages/deps.ts";
import { builtFolder } from "#api/pages/assets.ts";
import { dayS } from "#src/domain/units.ts";
import { basemapFile, bundledPath, operatorPath } from "#src/infrastructure/map-settings.ts";

/** Base maps that lie here, as PMTiles by Range: our own land and sea, and the operator's file if there is one. */
export function basemapPages(router: PageRouter, services: PageDeps): void {
  const files = new Map([[bundledPath, join(builtFolder, "basemap", "bundled.pmtiles")]]);
  const own = basemapFile(services.config);
  if (own !== null) files.set(operatorPath, own);
  for (const [path, file] of files) {
    router.get(path, async (ctx) => {
      const found = await serveFile(services, ctx, (req, res, next) => {
        send(req, encodeURIComponent(basename(file)), {
          root: dirname(file),
          dotfiles: "allow",
          index: false,
          maxAge: dayS * 1000,
        })
          .on("headers", (_res, _path, { size, mtimeMs }: Stats) => {
            res.setHeader("Content-Type", "application/vnd.pmtiles");
            // A strong one: parts of two versions must never be put together.
            res.setHeader("ETag", `"${size.toString(36)}-${Math.floor(mtimeMs).toString(36)}"`);
          })
          .on("directory", next)
          .on("error", ({ status }: { status?: number }) => {
            if (status !== 416) return next();
            res.statusCode = 416;
            res.end();
          })
          .pipe(res);
      });
      if (!found) throw refused("not-found", "The base map's file cannot be read.");
    });
  }
}
