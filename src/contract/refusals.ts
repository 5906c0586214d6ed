/** Every problem code of docs/contract.md 7 and docs/decisions.md 9 with its status, title and explanation. */
export const refusals = {
  "invalid-key": [401, "Key missing, wrong or revoked"],
  "sign-in-failed": [401, "Name, password or key is wrong"],
  "session-over": [401, "Not signed in, or no longer"],
  "domain-not-allowed": [403, "Publishable key used from a foreign domain"],
  "ip-not-allowed": [403, "Secret key used from an unbound IP address"],
  "secret-key-required": [403, "The operation needs a secret key"],
  "partner-disabled": [403, "Partner access is switched off"],
  "operator-role-required": [403, "The account may look, but not change"],
  "cross-site-request": [403, "Sent by a page of another site"],
  "reports-disabled": [403, "Mark-taking is not enabled for this key"],
  "not-found": [404, "No such route"],
  "station-not-found": [404, "No such station"],
  "city-not-found": [404, "No such city"],
  "report-not-found": [404, "No such report"],
  "method-not-allowed": [405, "Method not allowed here"],
  "already-done": [409, "Done or decided already"],
  "import-running": [409, "Another import is running"],
  "limit-request-pending": [409, "A limit request is already pending"],
  "own-mark": [409, "The author of a mark cannot confirm it"],
  "nothing-pending": [409, "That status is not pending now"],
  "body-too-large": [413, "Request body too large"],
  "unsupported-media-type": [415, "Unsupported media type"],
  "validation-failed": [422, "Request does not match the schema"],
  "bad-bbox": [422, "Unreadable bbox"],
  "bad-timestamp": [422, "Unreadable time"],
  "bad-grade": [422, "Unknown fuel grade"],
  "bad-cursor": [422, "Unreadable cursor"],
  "missing-area": [422, "Neither bbox nor city given"],
  "window-too-old": [422, "Delta window over 48 hours"],
  "too-far": [422, "Position is not at the station"],
  "rate-limit-exceeded": [429, "Per-minute limit exceeded"],
  "daily-quota-exceeded": [429, "Daily quota exceeded"],
  "station-cooldown": [429, "This user marked this station a short time ago"],
  "user-rate-limited": [429, "This user has sent too many marks"],
  "new-users-limit": [429, "Too many new users today"],
  "internal-error": [500, "Internal error"],
  "upstream-unavailable": [503, "Short failure, retry in a few seconds"],
} as const satisfies Record<string, readonly [number, string]>;

export type ProblemCode = keyof typeof refusals;

/** One fault of a schema check (docs/contract.md 7). */
export interface Fault {
  loc: (string | number)[];
  msg: string;
  type: string;
  input?: unknown;
  ctx?: Record<string, unknown>;
}

/** A refusal, as data. One middleware turns it into problem+json. */
export interface Refusal {
  problem: ProblemCode;
  detail: string | Fault[];
  /** On 429 and 503: seconds for `Retry-After`. */
  retryAfterS?: number;
  limit?: number;
  /** For example `60s`. */
  window?: string;
  headers?: Record<string, string>;
}

/** A refusal with its code and a detail that says what was expected and what to do. */
export const refuse = (
  problem: ProblemCode,
  detail: string | Fault[],
  more: Omit<Refusal, "problem" | "detail"> = {},
): Refusal => ({
  problem,
  detail,
  ...more,
});

export const isRefusal = (value: object): value is Refusal => "problem" in value;
