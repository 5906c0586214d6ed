import type { Context } from "#api/http/context.ts";
import type { Config } from "#src/infrastructure/config.ts";

/** Where a page app keeps the token of its session: a cookie that no script can read and no other site can send. */
export interface SessionCookie {
  /** The token that the browser has sent; null when it has none. */
  read(ctx: Context): string | null;
  /** Hands the token to the browser, for `lifeMs`. */
  give(ctx: Context, token: string, lifeMs: number): void;
  /** Makes the browser forget it. */
  take(ctx: Context): void;
}

/**
 * The cookie of the app at `/<app>/`. Over https its name starts with `__Host-`, so that no other host of the domain
 * can set it; that demands `Path=/`. Over http (a trial on one machine) it is sent to the app's own path alone.
 */
export function sessionCookie(app: string, { baseUrl }: Pick<Config, "baseUrl">): SessionCookie {
  const { protocol, pathname } = new URL(baseUrl);
  const isHttps = protocol === "https:";
  const name = `${isHttps ? "__Host-" : ""}${app}-session`;
  const path = isHttps ? "/" : `${pathname.replace(/\/$/, "")}/${app}/`;
  const rest = `Path=${path}; HttpOnly; SameSite=Strict${isHttps ? "; Secure" : ""}`;
  const set = (ctx: Context, value: string, ageS: number): void => {
    ctx.res.appendHeader("Set-Cookie", `${name}=${value}; Max-Age=${ageS}; ${rest}`);
  };
  return {
    read: ({ req }) => {
      const pairs = (req.headers.cookie ?? "").split(";").map((pair) => pair.trim());
      const own = pairs.find((pair) => pair.startsWith(`${name}=`));
      return own === undefined ? null : own.slice(name.length + 1);
    },
    give: (ctx, token, lifeMs) => set(ctx, token, Math.floor(lifeMs / 1000)),
    take: (ctx) => set(ctx, "", 0),
  };
}
