import { dryRunValues } from "#src/contract/report.ts";

const count = (minimum = 0) => ({ type: "integer", minimum });
const text = { type: "string" };
const timePattern = "^\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}$";

/** Headers of answers, docs/contract.md 8 and decisions 5 to 9: meanings and schemas. */
const answerHeaders = {
  "X-RateLimit-Limit": ["Requests a minute", count(1)],
  "X-RateLimit-Remaining": ["Left in this clock minute", count()],
  "X-RateLimit-Reset": ["Unix time, in seconds, at which the minute ends", count()],
  "X-RateLimit-Daily-Limit": ["Requests a UTC day", count(1)],
  "X-RateLimit-Daily-Remaining": ["Left today", count()],
  "X-Request-Id": ["Finds the request in the operator's log", { type: "string", format: "uuid" }],
  "X-Content-Type-Options": ["Always `nosniff`", { type: "string", const: "nosniff" }],
  "X-Ignored-Parameters": [
    "Names of query parameters that this path does not have, percent-encoded; only when there are some",
    { type: "string", pattern: "^[\\x20-\\x7e]{1,510}$" },
  ],
  ETag: [
    "Weak; the same while the content is the same, on every process",
    { type: "string", pattern: '^W/"[^"]+"$' },
  ],
  "Last-Modified": [
    "When the content last changed. `If-Modified-Since` is not looked at: two contents may be of one second, so compare by ETag",
    { type: "string", pattern: " GMT$" },
  ],
  "X-As-Of": [
    "UTC; the cursor for /stations/delta that a body would carry: on 304 and with lines of JSON",
    { type: "string", pattern: timePattern },
  ],
  "X-Service-Cache": [
    "On `bbox` reads: whether the answer came from the cache that publishable keys share",
    { type: "string", enum: ["hit", "miss"] },
  ],
  "X-Count": ["With lines of JSON: `count` of the envelope", count()],
  "X-Stale-After-Hours": ["With lines of JSON: `stale_after_hours`", { type: "integer" }],
  "X-Truncated": ["With lines of JSON: `truncated`", { type: "string", enum: ["true", "false"] }],
  "X-Next-Cursor": ["With lines of JSON: `next_cursor`, unless it is the last page", text],
  "Preference-Applied": [
    "What of `Prefer` was applied (RFC 7240)",
    { type: "string", pattern: "^(respond-async|wait=\\d+)$" },
  ],
  "X-Accel-Buffering": [
    "With streams: proxies must not hold them back",
    { type: "string", const: "no" },
  ],
  Location: ["Where the outcome can be asked for", text],
  "Retry-After": ["Seconds to wait", count()],
  Allow: ["The methods of this path", { type: "string", pattern: "^[A-Z]+(, [A-Z]+)*$" }],
  "Access-Control-Allow-Origin": [
    "The calling page, when a publishable key is bound to its domain: the page may read the answer",
    { type: "string", pattern: "^https?://[^/]+$" },
  ],
  "Access-Control-Expose-Headers": ["The headers that the page may read", text],
  "WWW-Authenticate": ["The scheme to use", { type: "string", const: "Bearer" }],
} as const satisfies Record<string, readonly [string, object]>;

export type HeaderName = keyof typeof answerHeaders;

/** Headers of every answer below the API's base. */
export const constantHeaders = [
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "X-RateLimit-Daily-Limit",
  "X-RateLimit-Daily-Remaining",
  "X-Request-Id",
  "X-Content-Type-Options",
] as const satisfies HeaderName[];

/** Headers that any of these answers may have. */
const optionalHeaders: readonly HeaderName[] = [
  "X-Ignored-Parameters",
  "Access-Control-Allow-Origin",
  "Access-Control-Expose-Headers",
];

const headerObject = (name: HeaderName, required: boolean) => {
  const [description, schema] = answerHeaders[name];
  return { description, required, schema };
};

/** `components.headers`: those that these paths refer to. */
export function headerComponents(paths: object): Record<string, object> {
  const text = JSON.stringify(paths);
  const referred = (Object.keys(answerHeaders) as HeaderName[]).filter((name) =>
    text.includes(`"${reference(name)}"`),
  );
  return Object.fromEntries(
    referred.map((name) => [name, headerObject(name, !optionalHeaders.includes(name))]),
  );
}

const reference = (name: HeaderName): string => `#/components/headers/${name}`;

/** The headers of a response: those that it always carries, and those that it may. */
export function headersOf(
  always: readonly HeaderName[] = [],
  sometimes: readonly HeaderName[] = [],
): Record<string, object> {
  const required = [...constantHeaders, ...optionalHeaders, ...always].map((name) => [
    name,
    { $ref: reference(name) },
  ]);
  return Object.fromEntries([
    ...required,
    ...sometimes.map((name) => [name, headerObject(name, false)]),
  ]) as Record<string, object>;
}

/** Headers of requests that change the answer. Accept and Authorization are said elsewhere in OpenAPI. */
const takenHeaders = {
  "If-None-Match": [
    "ETags that the caller has, also a list or `*`; 304 when the content is one of them",
    { type: "string" },
    'W/"5tvEqyDWlBMVgRRtKhLr5w"',
  ],
  "Last-Event-ID": [
    "`id` of the last event that was read; wins over `updated_since`. Browsers and libraries send it by themselves",
    { type: "string" },
    "2026-01-31 18:05:00",
  ],
  Prefer: [
    "`respond-async`: answer 202 before the outcome is known; `wait=N`: wait at most N seconds for it (RFC 7240)",
    { type: "string" },
    "wait=1",
  ],
  "X-Dry-Run": [
    "`1` or `true`: real checks and a real verdict, and nothing is stored; secret keys only. `0` or `false`: a real mark",
    { type: "string", enum: dryRunValues },
    "1",
  ],
} as const;

export type TakenHeader = keyof typeof takenHeaders;

export const headerParameter = (name: TakenHeader): object => {
  const [description, schema, example] = takenHeaders[name];
  return { name, in: "header", required: false, description, schema, example };
};
