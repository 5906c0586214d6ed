import { existsSync } from "node:fs";
import { join } from "node:path";
import sirv from "sirv";
import type { Page } from "#api/http/app.ts";
import type { Context } from "#api/http/context.ts";
import { projectRoot } from "#src/infrastructure/project-root.ts";

/** Where `npm run build` puts the pages. */
export const builtFolder = join(projectRoot, "web", "dist");

/**
 * `/assets/*`: scripts, styles and pictures of all pages, precompressed, under names that hold their content's hash
 * and are therefore good for ever.
 */
export const assetPages = (): Page => {
  const folder = join(builtFolder, "assets");
  if (!existsSync(folder)) return (_ctx, next) => next();
  const serve = sirv(folder, {
    gzip: true,
    brotli: true,
    etag: true,
    immutable: true,
    maxAge: 31_536_000,
  });
  return async (ctx, next) => {
    if (!ctx.state.path.startsWith("/assets/") || !["GET", "HEAD"].includes(ctx.method))
      return next();
    if (!(await serveFile(ctx, serve, ctx.state.path.slice("/assets".length)))) return next();
    ctx.respond = false;
    return undefined;
  };
};

/** Has sirv answer `path` (still percent-encoded); false when it has no such file, and nothing was sent. */
export async function serveFile(
  { req, res }: Context,
  serve: ReturnType<typeof sirv>,
  path: string,
): Promise<boolean> {
  const target = req.url;
  req.url = path;
  const found = await new Promise<boolean>((done) => {
    res.once("close", () => done(true));
    // Koa has set 404 beforehand.
    res.statusCode = 200;
    serve(req, res, () => done(false));
  });
  if (target !== undefined) req.url = target;
  if (!found) res.statusCode = 404;
  return found;
}
