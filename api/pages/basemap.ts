import type { Stats } from "node:fs";
import { basename, dirname, join } from "node:path";
import send from "send";
import type { Page } from "#api/http/app.ts";
import { builtFolder } from "#api/pages/assets.ts";
import { basemapFile, bundledPath, operatorPath } from "#src/infrastructure/map-settings.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { refuse } from "#src/contract/refusals.ts";
import { dayS } from "#src/domain/units.ts";

/** Base maps that lie here, as PMTiles by Range: our own land and sea, and the operator's file if there is one. */
export function basemapPages(config: Pick<Config, "basemap">): Page {
  const files = new Map([[bundledPath, join(builtFolder, "basemap", "bundled.pmtiles")]]);
  const own = basemapFile(config);
  if (own !== null) files.set(operatorPath, own);
  return async (ctx, next) => {
    const file = files.get(ctx.state.path);
    if (file === undefined || !["GET", "HEAD"].includes(ctx.method)) return next();
    const { req, res } = ctx;
    ctx.respond = false;
    const problem = await new Promise<"gone" | null>((done) => {
      // Koa has set 404 beforehand.
      res.statusCode = 200;
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
        .on("directory", () => done("gone"))
        .on("error", ({ status }: { status?: number }) => {
          if (status === 416) {
            res.statusCode = 416;
            res.end();
            done(null);
          } else done("gone");
        })
        .pipe(res);
      res.once("close", () => done(null));
    });
    if (problem === null) return undefined;
    return refuse("not-found", "The base map's file cannot be read.");
  };
}
