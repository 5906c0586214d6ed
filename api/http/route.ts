import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import type { Static, TSchema } from "typebox";
import type { Answers } from "#api/openapi/answers.ts";
import type { Refusal } from "#src/contract/refusals.ts";
import type { KeyInfo } from "#src/keys/key-info.ts";

/** An answer that is not a refusal. `body` objects are sent as JSON, buffers and streams as they are. */
export interface Reply {
  status?: number;
  headers?: Record<string, string>;
  body?: Buffer | string | Readable | object | null;
  /** A long body in pieces, in place of `body`. */
  slices?: readonly Buffer[];
}

export interface ApiRequest<Query = unknown, Body = unknown> {
  /** The authenticated key with its partner's switches and limits. */
  key: KeyInfo;
  /** Path parameters, percent-decoded. */
  params: Record<string, string>;
  query: Query;
  body: Body;
  headers: IncomingHttpHeaders;
  method: string;
  requestId: string;
  /** When the request came in, on the clock of `performance.now()`. */
  arrivedAt: number;
  /** The viewer's address as far as TRUSTED_PROXIES lets it be believed. */
  ip: string;
  /** What the cached rectangles' sequence was when the request was counted; null while Redis is away. */
  seq: number | null;
  /** What the partner (for publishable keys: the viewer) has left today, as the answer's headers say. */
  dailyRemaining: number;
}

/** Who may call a route: any key (also publishable ones), or secret keys only (decisions.md 8). */
export type Access = "any" | "secret";

/**
 * A route is a schema, one call, one answer. Authentication, metering, validation and the shape of
 * errors happen before and after it, in the middleware that api/http/app.ts lists in order.
 */
export interface Route<Query extends TSchema = TSchema, Body extends TSchema = TSchema> {
  method: "GET" | "POST";
  /** Below /api/v1/partner, parameters in braces: `/stations/{station_id}`. */
  path: string;
  access: Access;
  summary: string;
  query?: Query;
  body?: Body;
  /** Largest body in bytes; 64 KiB by default. */
  bodyLimit?: number;
  /** For the OpenAPI document, which leaves out a route without it. */
  answers?: Answers;
  handle(
    request: ApiRequest<Static<Query>, Static<Body>>,
  ): Promise<Reply | Refusal> | Reply | Refusal;
}

/** Gives a route literal its types. */
export const route = <Query extends TSchema, Body extends TSchema>(
  definition: Route<Query, Body>,
): Route => definition as unknown as Route;
