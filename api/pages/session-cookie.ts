import type { Context } from "#api/http/route.ts";
import type { Config } from "#src/infrastructure/config.ts";

/** The cookie with the token of a page app's session: no script can read it, and no other site can send it. */
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
 * `what`: the session, or the proof by which a browser is known again.
 */
export function sessionCookie(
  app: string,
  { baseUrl }: Pick<Config, "baseUrl">,
  what: "session" | "browser" = "session",
): SessionCookie {
  const { protocol, pathname } = new URL(baseUrl);
  const isHttps = protocol === "https:";
  const name = `${isHttps ? "__Host-" : ""}${app}-${what}`;
  const path = isHttps ? "/" : `${pathname.replace(/\/$/, "")}/${app}/`;
  const options = { path, httpOnly: true, sameSite: "strict", secure: isHttps } as const;
  const cookiesOf = (ctx: Context): Context["cookies"] => {
    // TLS ends before this process: BASE_URL says what the browser sees.
    ctx.cookies.secure = isHttps;
    return ctx.cookies;
  };
  return {
    read: (ctx) => ctx.cookies.get(name) ?? null,
    give: (ctx, token, lifeMs) =>
      void cookiesOf(ctx).set(name, token, { ...options, maxAge: lifeMs }),
    take: (ctx) => void cookiesOf(ctx).set(name, null, options),
  };
}
