import type Koa from "koa";
import type { Match } from "#api/router.ts";
import type { Problem } from "#src/domain/problems.ts";
import type { Reply } from "#api/route.ts";
import type { Grant } from "#src/grant.ts";
import type { KeyInfo } from "#src/keys.ts";

/** What the middleware learns about a request on its way inwards. */
export interface State {
  requestId: string;
  /** When the request came in, on the clock of `performance.now()`. */
  arrivedAt: number;
  /** The viewer's address as far as TRUSTED_PROXIES lets it be believed. */
  ip: string;
  /** The path as it was sent, still percent-encoded. */
  path: string;
  /** What stands after `?`, as it was sent. */
  search: string;
  key?: KeyInfo;
  match?: Match;
  /** The meter's verdict. `seq` in it says which cached rectangles are still good. */
  grant?: Grant;
}

export type Context = Koa.ParameterizedContext<State>;

/** A page outside the API answers through `ctx` and gives nothing back. */
export type Answer = Reply | Problem | undefined;

/**
 * A step of the API's way inwards (api/app.ts): gives back an answer or `next()`'s.
 * Koa passes what a middleware returns to the one around it; `respond` at the outside sends it.
 */
export type Step = (ctx: Context, next: () => Promise<Answer>) => Promise<Answer> | Answer;
