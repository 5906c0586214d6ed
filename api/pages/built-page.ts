import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Context } from "#api/http/route.ts";
import { builtFolder } from "#api/pages/assets.ts";
import { pageHeaders, type PageRights } from "#api/pages/page-headers.ts";

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
] as const;

/** Further sources that the operator has configured, and further rights of the page. */
export interface PolicyMore extends PageRights {
  /** Hosts of the operator's base map, for images, styles and data. */
  hosts?: readonly string[];
  /** The page shows another of ours in a frame. */
  framesOwn?: boolean;
}

/** The content security policy of every built page: nothing inline, nothing evaluated, no host but ours. */
export function contentPolicy({ hosts = [], framesOwn = false }: PolicyMore = {}): string {
  const open = /^(img|connect|font)-src/;
  const own = policy.map((line) => (open.test(line) ? [line, ...hosts].join(" ") : line));
  if (framesOwn) own.push("frame-src 'self'");
  return own.join("; ");
}

/**
 * The page of `web/<name>` (`widget/index.html`) as it was built; null when it was not built. Read once: a deploy is
 * a restart.
 */
export function readBuilt(name: string): string | null {
  try {
    return readFileSync(join(builtFolder, name), "utf8");
  } catch {
    return null;
  }
}

/** Answers with a built page, or says that the pages are not built. */
export function sendBuiltPage(ctx: Context, page: string | null, more: PolicyMore = {}): void {
  if (page === null) {
    ctx.status = 503;
    ctx.set({ "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store" });
    ctx.body = "The pages are not built: run `npm run build`, then restart.\n";
    return;
  }
  ctx.set({
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "no-cache",
    ...pageHeaders(contentPolicy(more), more),
  });
  ctx.body = page;
}

/** Sends the browser to another address. It may be relative: the service may lie below a path of its host. */
export function moved(ctx: Context, status: 302 | 308, to: string): void {
  ctx.status = status;
  ctx.set("Location", to);
  ctx.body = "";
}
