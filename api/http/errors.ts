import { problemHeaders, problemObject } from "#api/http/problem.ts";
import { describe, Refused } from "#api/http/refused.ts";
import { countOutcome } from "#api/http/limits.ts";
import { setCommonHeaders } from "#api/http/respond.ts";
import type { Context, Middleware } from "#api/http/state.ts";
import type { Services } from "#api/http/services.ts";
import { refuse, type Refusal } from "#src/contract/refusals.ts";
import { isUnavailable } from "#src/infrastructure/db.ts";
import { isRedisAway } from "#src/infrastructure/redis.ts";
import { withoutKeys } from "#src/keys/key-text.ts";

const unavailableRetryS = 5;

/** Answers what is thrown: a refusal as problem+json, anything else as 503 or 500 with a line in the log. */
export function answerErrors(services: Services): Middleware {
  const { config, log } = services;

  const explain = ({ state, path }: Context, error: unknown): Refusal => {
    const away = isUnavailable(error) || isRedisAway(error);
    const line = { request_id: state.requestId, path: withoutKeys(path), ...describe(error) };
    log.error(line, away ? "upstream unavailable" : "internal error");
    return away ? unavailable : internalError;
  };

  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      const refusal = error instanceof Refused ? error.refusal : explain(ctx, error);
      if (ctx.headerSent) {
        ctx.res.destroy();
        return;
      }
      // What a handler has set belongs to an answer that does not come.
      for (const name of ctx.res.getHeaderNames()) if (name !== "set-cookie") ctx.remove(name);
      const problem = problemObject(refusal, config.problemBase, ctx.state.requestId);
      ctx.status = problem.status;
      countOutcome(services, ctx, "errors");
      setCommonHeaders(services, ctx);
      ctx.set(problemHeaders(refusal));
      ctx.body = JSON.stringify(problem);
    }
  };
}

const internalError: Refusal = refuse(
  "internal-error",
  "Something went wrong here. Quote request_id to the operator.",
);

const unavailable: Refusal = refuse(
  "upstream-unavailable",
  "A part of the service is away. Nothing was lost: retry.",
  { retryAfterS: unavailableRetryS },
);
