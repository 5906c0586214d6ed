import type { Page } from "#api/http/app.ts";
import { builtPage, readBuilt } from "#api/pages/built-page.ts";

/** `/dashboard/`: the partner dashboard (partner-api.md 5.6). Everything it shows comes from /dashboard/api. */
export const dashboardPage = (): Page => {
  const reply = builtPage(readBuilt("dashboard/index.html"));
  return (ctx, next) => {
    if (!["GET", "HEAD"].includes(ctx.method)) return next();
    // Relative: the service may stand below a path of a proxy.
    if (ctx.state.path === "/dashboard")
      return { status: 308, headers: { Location: "dashboard/" } };
    return ctx.state.path === "/dashboard/" ? reply : next();
  };
};
