import type { Context } from "#api/http/route.ts";
import { isRefusal, refusals, refuse, type Refusal } from "#src/contract/refusals.ts";
import { isUnavailable } from "#src/infrastructure/db.ts";
import { type Log, pathForLog } from "#src/infrastructure/log.ts";
import { isRedisAway } from "#src/infrastructure/redis.ts";

/** Thrown by middleware and handlers: the responder answers with its refusal. */
export class Refused extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.code);
    this.name = "Refused";
    this.refusal = refusal;
  }
}

/** A refusal to throw: a code, and a detail with the expected value and the remedy. */
export const refused = (...what: Parameters<typeof refuse>): Refused =>
  new Refused(refuse(...what));

/** The value; a refusal is thrown. */
export function orThrow<T extends object>(value: T | Refusal): T {
  if (isRefusal(value)) throw new Refused(value);
  return value;
}

/** The refusal for a thrown error (decisions 9). Logs a line that `request_id` finds. */
export function refusalOf(log: Log, ctx: Context, error: unknown): Refusal {
  if (error instanceof Refused) return error.refusal;
  const away = isUnavailable(error) || isRedisAway(error);
  const line = { request_id: ctx.state.requestId, path: loggedPath(ctx), ...describe(error) };
  log.error(line, away ? "upstream unavailable" : "internal error");
  return away ? unavailable : internalError;
}

/** The path of a request as the log may have it. */
export function loggedPath(ctx: Context): string {
  // The layers of the routers that the path fits, whatever its method.
  const { length: layers } = (ctx["matched"] as unknown[] | undefined) ?? [];
  return pathForLog(ctx["newRouterPath"] ?? ctx.path, layers > 0);
}

/** The parts of an error that may be logged: drivers hang settings and values on theirs. */
export function describe(error: unknown): object {
  if (!(error instanceof Error)) return { error: typeof error };
  const { name, message, stack } = error;
  return { error: { name, message, stack, code: (error as { code?: unknown }).code } };
}

const internalError = refuse("internal-error");

const unavailable = refuse("upstream-unavailable", undefined, { retryAfterS: 5 });

/** The problem object of docs/contract.md 7. `base` is the prefix of `type`. */
export function problemObject(refusal: Refusal, base: string, requestId: string) {
  const { status, title } = refusals[refusal.code];
  return {
    type: `${base}/${refusal.code}`,
    title,
    status,
    detail: refusal.detail,
    limit: refusal.limit,
    window: refusal.window,
    request_id: requestId,
  };
}

/** The headers of a refusal as problem+json. */
export const problemHeaders = ({ headers, retryAfterS }: Refusal): Record<string, string> => ({
  ...headers,
  ...(retryAfterS === undefined ? {} : { "Retry-After": String(retryAfterS) }),
  "Cache-Control": "no-store",
  "Content-Type": "application/problem+json",
});
