import type { IncomingMessage, ServerResponse } from "node:http";
import type Koa from "koa";
import type { Match } from "#api/http/router.ts";
import type { Refusal } from "#src/contract/refusals.ts";
import type { Reply } from "#api/http/route.ts";
import type { QuotaDecision } from "#src/limits/quota-decision.ts";
import type { KeyInfo } from "#src/keys/key-info.ts";

/** A request, and what the steps learn about it on its way inwards. */
export interface State {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly method: string;
  readonly requestId: string;
  /** When the request came in, on the clock of `performance.now()`. */
  readonly arrivedAt: number;
  /** The viewer's address as far as TRUSTED_PROXIES lets it be believed. */
  readonly ip: string;
  /** The path as it was sent, still percent-encoded. */
  readonly path: string;
  /** What stands after `?`, as it was sent. */
  readonly search: string;
  /** Undefined when no route has this path. */
  match: Match | undefined;
  key: KeyInfo | undefined;
  /** The meter's verdict on a counted request. `seq` in it says which cached rectangles are still good. */
  grant: QuotaDecision | undefined;
  /** The limits that the answer's headers tell. */
  limits: QuotaDecision | undefined;
  /** Length of the answer's body as it was sent; undefined when it is poured or there is none. */
  bytes: number | undefined;
}

/** What Koa hands to the pages outside the API. */
export type Context = Koa.ParameterizedContext<State>;

export type Answer = Reply | Refusal;

/** A step of the API's way inwards (api/http/app.ts): an answer ends the way, `undefined` lets the request go on. */
export type Step = (state: State) => Answer | undefined | Promise<Answer | undefined>;
