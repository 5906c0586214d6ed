import type { Step } from "#api/http/context.ts";
import { refuse } from "#src/contract/refusals.ts";

/** 404 for an unknown path, 204 for OPTIONS, 405 for a method that the path does not have. */
export const findRoute: Step = ({ match, method }) => {
  if (match === undefined) {
    return refuse("not-found", "No such path. Paths are case-sensitive and end without a slash.");
  }
  const { allow, routes } = match.place;
  if (method === "OPTIONS") return { status: 204, headers: { Allow: allow } };
  if (!routes.has(method === "HEAD" ? "GET" : method)) {
    return refuse("method-not-allowed", `Use one of: ${allow}.`, { headers: { Allow: allow } });
  }
  return undefined;
};
