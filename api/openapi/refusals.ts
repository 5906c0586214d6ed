import { type HeaderName, headersOf } from "#api/openapi/headers.ts";
import { problemObject } from "#api/http/errors.ts";
import type { Route } from "#api/http/route.ts";
import { detailsOf, refusals, type ProblemCode } from "#src/contract/refusals.ts";

/** Refusals that any request may meet before its route (decisions 3). */
const onEveryRoute: readonly ProblemCode[] = [
  "invalid-key",
  "partner-disabled",
  "ip-not-allowed",
  "domain-not-allowed",
  "rate-limit-exceeded",
  "daily-quota-exceeded",
  "method-not-allowed",
  "validation-failed",
  "internal-error",
  "upstream-unavailable",
];

/** Every problem code that a route can answer with. */
export const codesOf = ({
  access,
  body,
  answers,
  secretParameters,
}: Pick<Route, "access"> &
  Partial<Pick<Route, "body" | "answers" | "secretParameters">>): ProblemCode[] => [
  ...onEveryRoute,
  ...(access === "secret" || secretParameters || answers?.takes?.includes("X-Dry-Run")
    ? (["secret-key-required"] as const)
    : []),
  ...(body === undefined ? [] : (["body-too-large", "unsupported-media-type"] as const)),
  ...(answers?.problems ?? []),
];

const headersByStatus: Record<number, readonly HeaderName[]> = {
  401: ["WWW-Authenticate"],
  405: ["Allow"],
  429: ["Retry-After"],
  503: ["Retry-After"],
};

/** Responses by status; each code is a named example. */
export function refusalsOf(codes: readonly ProblemCode[]): Record<string, object> {
  const ordered = (Object.keys(refusals) as ProblemCode[]).filter((code) => codes.includes(code));
  const statuses = [...new Set(ordered.map((code) => refusals[code].status))];
  return Object.fromEntries(
    statuses.map((status) => {
      const own = ordered.filter((code) => refusals[code].status === status);
      const lines = own.map((code) => `\`${code}\`: ${refusals[code].title}`);
      const examples = own.map((code) => [code, { $ref: `#/components/examples/${code}` }]);
      const content = {
        schema: { $ref: "#/components/schemas/Problem" },
        examples: Object.fromEntries(examples) as object,
      };
      const response = {
        description: lines.join("  \n"),
        headers: headersOf(headersByStatus[status]),
        content: { "application/problem+json": content },
      };
      return [String(status), response];
    }),
  );
}

const exampleId = "1f0e7a52-6d0b-4a9e-9b1c-2f4a5f0d7c11";

/** `components.examples`: a problem of each of these codes. `base` is the prefix of `type`. */
export const refusalComponents = (
  codes: ReadonlySet<ProblemCode>,
  base: string,
): Record<string, object> =>
  Object.fromEntries(
    (Object.keys(refusals) as ProblemCode[])
      .filter((code) => codes.has(code))
      .map((code) => {
        const value = problemObject({ code, ...detailsOf(code) }, base, exampleId);
        return [code, { summary: refusals[code].title, value }];
      }),
  );
