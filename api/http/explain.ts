import type { State } from "#api/http/context.ts";
import type { Services } from "#api/http/services.ts";
import { isUnavailable } from "#src/infrastructure/db.ts";
import { refuse, type Refusal } from "#src/contract/refusals.ts";
import { withoutKeys } from "#src/keys/key-text.ts";
import { isRedisAway } from "#src/infrastructure/redis.ts";

const unavailableRetryS = 5;

/** What a thrown error means to the caller (decisions.md 9), and a log line about it that `request_id` finds. */
export function explain({ log }: Pick<Services, "log">): (state: State, error: unknown) => Refusal {
  return ({ requestId, path }, error) => {
    const away = isUnavailable(error) || isRedisAway(error);
    const line = { request_id: requestId, path: withoutKeys(path), ...describe(error) };
    log.error(line, away ? "upstream unavailable" : "internal error");
    return away ? unavailable : internalError;
  };
}

/** What of an error may be logged: drivers hang settings and values on theirs. */
export function describe(error: unknown): object {
  if (!(error instanceof Error)) return { error: typeof error };
  const { name, message, stack } = error;
  return { error: { name, message, stack, code: (error as { code?: unknown }).code } };
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
