import type { Step } from "#api/context.ts";
import { apiBase } from "#api/router.ts";
import { refuse } from "#src/domain/problems.ts";

/** What is neither a page nor below the API's base does not exist, with or without a key. */
export const onlyApi: Step = (ctx, next) => {
  const { path } = ctx.state;
  if (path === apiBase || path.startsWith(`${apiBase}/`)) return next();
  return refuse("not-found", `No such page. The API is below ${apiBase}.`);
};
