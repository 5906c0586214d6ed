import { refusals, type Refusal } from "#src/contract/refusals.ts";

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
