import type { Step } from "#api/context.ts";
import { refuse } from "#src/domain/problems.ts";

/** 404 for an unknown path, 204 for OPTIONS, 405 for a method that the path does not have. */
export const findRoute: Step = (ctx, next) => {
  const { match } = ctx.state;
  if (match === undefined) {
    return refuse("not-found", "No such path. Paths are case-sensitive and end without a slash.");
  }
  const { allow, routes } = match.place;
  if (ctx.method === "OPTIONS") return { status: 204, headers: { Allow: allow } };
  if (!routes.has(ctx.method === "HEAD" ? "GET" : ctx.method)) {
    return refuse("method-not-allowed", `Use one of: ${allow}.`, { headers: { Allow: allow } });
  }
  return next();
};
