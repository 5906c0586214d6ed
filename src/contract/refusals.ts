// The order of this table is the order of the codes in the OpenAPI document and on /problems.
const table = {
  "invalid-key": {
    status: 401,
    title: "Key missing, wrong or revoked",
    advice:
      "Send the header Authorization: Bearer <KEY>. Check that the key was copied whole; a lost, revoked or expired key cannot be recovered: ask the operator for a new one.",
    example:
      "Send `Authorization: Bearer <KEY>` with a key that is in force. A key that is wrong, revoked or expired is refused.",
  },
  "sign-in-failed": {
    status: 401,
    title: "Name, password or key is wrong",
    advice:
      "Check the name and the password, or the key. An operator with access to the server makes new ones with `account reset`.",
  },
  "sign-in-code-required": {
    status: 401,
    title: "A code of the authenticator app is needed",
    advice:
      "Send the code that the app shows now, together with name and password. Each code opens once. Without the app, an operator with access to the server switches codes off with `account totp disable NAME`.",
  },
  "session-over": {
    status: 401,
    title: "Not signed in, or no longer",
    advice:
      "Sessions last 12 hours; those of the console also end after 2 hours without use. They end with the key or account they were entered with. Sign in again.",
  },
  "domain-not-allowed": {
    status: 403,
    title: "Publishable key used from a foreign domain",
    advice:
      "A publishable key works on the domains it was issued for and on their subdomains. Ask the operator to add the domain of this page.",
    example: "This key is bound to other domains than the calling page's.",
  },
  "ip-not-allowed": {
    status: 403,
    title: "Secret key used from an unbound IP address",
    advice:
      "The key is bound to your servers' addresses. Call from one of them, or ask the operator to add the new address.",
    example: "This key is bound to other addresses than 192.0.2.17.",
  },
  "secret-key-required": {
    status: 403,
    title: "The operation needs a secret key",
    advice:
      "Publishable keys read areas, single stations and cities for the widget. Make this call from your server with a secret key, and never put that key on a page.",
    example: "Call this from your server with a secret key (svc_live_…).",
  },
  "partner-disabled": {
    status: 403,
    title: "Partner access is switched off",
    advice: "The operator has switched this partner off. Ask the operator.",
    example: "Access of this partner is switched off. Ask the operator.",
  },
  "operator-role-required": {
    status: 403,
    title: "The account may look, but not change",
    advice:
      "The account has the role viewer. `account set-role NAME operator` on the server gives it the other.",
  },
  "cross-site-request": {
    status: 403,
    title: "Sent by a page of another site",
    advice:
      "The dashboard and the console take changes from their own pages only. Open them at the service's public address.",
  },
  "reports-disabled": {
    status: 403,
    title: "Mark-taking is not enabled for this key",
    advice: "The operator has not enabled mark-taking for this key. Ask the operator.",
    example: "Mark-taking is not enabled for this key. Ask the operator.",
  },
  "not-found": {
    status: 404,
    title: "No such route",
    advice:
      "Compare the path with the documentation: case counts, and there is no slash at the end.",
    example: "No such path. Paths are case-sensitive and end without a slash.",
  },
  "station-not-found": {
    status: 404,
    title: "No such station",
    advice:
      "Station ids come from the id field of /stations and /stations/all. Stations taken out of service are listed in removed of /stations/delta.",
    example: "No station of that id; ids come from GET /stations.",
  },
  "city-not-found": {
    status: 404,
    title: "No such city",
    advice:
      "Take the name from /cities. Send it percent-encoded in UTF-8; case and the letter ё do not matter.",
    example: "No city of that name. Names are percent-encoded UTF-8; GET /cities?q= finds them.",
  },
  "report-not-found": {
    status: 404,
    title: "No such report",
    advice: "Reports are kept for 7 days and can be read by the partner that sent them.",
    example: "There is no such report of yours. Reports are kept for 7 days.",
  },
  "webhook-not-found": {
    status: 404,
    title: "No such webhook",
    advice: "GET /webhooks lists your webhooks with their ids.",
    example: "There is no such webhook of yours.",
  },
  "delivery-not-found": {
    status: 404,
    title: "No such delivery",
    advice: "GET /webhooks/{webhook_id}/deliveries lists them; they are kept for 30 days.",
    example: "There is no such delivery of this webhook.",
  },
  "method-not-allowed": {
    status: 405,
    title: "Method not allowed here",
    advice: "The header Allow lists the methods of this path.",
    example: "Use one of: GET, HEAD, OPTIONS.",
  },
  "already-done": {
    status: 409,
    title: "Done or decided already",
    advice: "Somebody was faster, or it was done before. Load the page again.",
  },
  "import-running": {
    status: 409,
    title: "Another import is running",
    advice: "Wait until the import that runs has ended, then send the file again.",
  },
  "limit-request-pending": {
    status: 409,
    title: "A limit request is already pending",
    advice: "Wait for the operator's decision on your first request, then send the next.",
    example: "An earlier request of yours waits for the operator's decision.",
  },
  "key-not-replaceable": {
    status: 409,
    title: "The key cannot be replaced now",
    advice:
      "A key can be replaced once, from a day after it was issued, and not if it has an end. Otherwise ask the operator for a new key.",
    example: "This key has an end already.",
  },
  "webhook-limit": {
    status: 409,
    title: "No further webhook possible",
    advice: "Remove one that you do not need, or change its URL.",
    example: "You have 5 webhooks, as many as possible.",
  },
  "alert-limit": {
    status: 409,
    title: "No further alert possible",
    advice: "Stop one that you do not need any more.",
  },
  "webhook-off": {
    status: 409,
    title: "The webhook is switched off",
    advice:
      "Switch it on with PATCH and enabled: true. If off_reason is operator, ask the operator to do it.",
    example: "This webhook is switched off. Switch it on first.",
  },
  "own-mark": {
    status: 409,
    title: "The author of a mark cannot confirm it",
    advice: "A mark needs the confirmation of another person.",
    example: "The author of a mark cannot confirm it.",
  },
  "nothing-pending": {
    status: 409,
    title: "That status is not pending now",
    advice: "The status was published or has expired in the meantime. Read the station again.",
    example: "That status is not pending at this station now.",
  },
  "nothing-to-take-back": {
    status: 409,
    title: "No mark to take back",
    advice:
      "A device can take back its newest mark on a station, within two minutes after the mark and once in 20 minutes.",
    example: "This device has no mark here that it could take back.",
  },
  "body-too-large": {
    status: 413,
    title: "Request body too large",
    advice: "Send a smaller body: 64 KiB, or 1 MiB for a batch of reports.",
    example: "A body of this call may have 65536 bytes.",
  },
  "unsupported-media-type": {
    status: 415,
    title: "Unsupported media type",
    advice: "Send JSON in UTF-8 with Content-Type: application/json and without Content-Encoding.",
    example: "Send `Content-Type: application/json` in UTF-8 and no Content-Encoding.",
  },
  "validation-failed": {
    status: 422,
    title: "Request does not match the schema",
    advice:
      "detail lists each fault: loc says where it is, msg what was expected. Correct the request; repeating it as it is will fail again.",
    example: {
      detail: [
        {
          loc: ["query", "limit"],
          msg: "Input should be less than or equal to 200",
          type: "less_than_equal",
          input: 500,
          ctx: { le: 200 },
        },
      ],
    },
  },
  "bad-bbox": {
    status: 422,
    title: "Unreadable bbox",
    advice:
      "bbox is lat1,lon1,lat2,lon2: four decimal numbers, south-west corner first, latitudes from -90 to 90, longitudes from -180 to 180.",
    example:
      "bbox is lat1,lon1,lat2,lon2 in decimal degrees, south-west corner first: 54.9,82.7,55.2,83.2.",
  },
  "bad-timestamp": {
    status: 422,
    title: "Unreadable time",
    advice:
      "Send UTC as YYYY-MM-DD HH:MM:SS or ISO 8601, with a time of day. For /stations/delta take as_of of the previous answer.",
    example: "A UTC time like 2026-01-31 18:05:00 or 2026-01-31T18:05:00Z is expected.",
  },
  "bad-grade": {
    status: 422,
    title: "Unknown fuel grade",
    advice: "Grades are 92, 95, 98, 100 and ДТ (also dt, дизель).",
    example: 'Unknown fuel grade "93". Allowed: 92, 95, 98, 100, ДТ (also dt, дизель for ДТ).',
  },
  "bad-cursor": {
    status: 422,
    title: "Unreadable cursor",
    advice:
      "Take next_cursor of the previous page, with the same filters. Start again without a cursor.",
    example: "cursor is next_cursor of the page before, with the same filters.",
  },
  "missing-area": {
    status: 422,
    title: "Neither bbox nor city given",
    advice:
      "Give bbox or city; with a secret key also lat and lon, or ids. For the whole country use /stations/all.",
    example: "Give bbox=lat1,lon1,lat2,lon2 or city=NAME, or lat= and lon=, or ids=.",
  },
  "window-too-old": {
    status: 422,
    title: "Delta window over 48 hours",
    advice:
      "Changes are kept for 48 hours. Take a full snapshot from /stations/all and go on from its as_of.",
    example: "updated_since may be at most 48 hours ago. Take GET /stations/all again.",
  },
  "too-far": {
    status: 422,
    title: "Position is not at the station",
    advice: "The operator takes marks of this partner only with a position at the station.",
    example: "This position is not at the station, and only such marks are taken.",
  },
  "rate-limit-exceeded": {
    status: 429,
    title: "Per-minute limit exceeded",
    advice:
      "Wait for the number of seconds in Retry-After. If you need more, file a limit request.",
    example: {
      detail: "120 requests a minute are used up. Wait Retry-After seconds.",
      limit: 120,
      window: "60s",
    },
  },
  "daily-quota-exceeded": {
    status: 429,
    title: "Daily quota exceeded",
    advice:
      "The quota starts again at 00:00 UTC; Retry-After says in how many seconds. If you need more, file a limit request.",
    example: {
      detail: "50000 requests a day are used up until 00:00 UTC.",
      limit: 50000,
      window: "86400s",
    },
  },
  "station-cooldown": {
    status: 429,
    title: "This user marked this station a short time ago",
    advice:
      "One user can mark a station once in 20 minutes (2 with express). Retry after Retry-After, or drop the mark.",
    example: {
      detail: "This user marked this station a short time ago.",
      limit: 1,
      window: "1200s",
    },
  },
  "user-rate-limited": {
    status: 429,
    title: "This user has sent too many marks",
    advice: "This user has reached the hourly or daily cap. Retry after Retry-After.",
    example: { detail: "This user has sent as many marks as one may.", limit: 12, window: "3600s" },
  },
  "new-users-limit": {
    status: 429,
    title: "Too many new users today",
    advice: "Too many users were seen for the first time today. Marks of known users still pass.",
    example: {
      detail: "As many new users as may were seen today. Marks of known users still pass.",
      limit: 500,
      window: "86400s",
    },
  },
  "too-many-streams": {
    status: 429,
    title: "This key holds too many streams open",
    advice:
      "Close streams that you no longer read, and share one among your processes. Without a stream, ask /stations/delta.",
    example: {
      detail: "This key holds as many streams open as one may. Close one, or ask /stations/delta.",
      limit: 10,
      window: "0s",
    },
  },
  "internal-error": {
    status: 500,
    title: "Internal error",
    advice: "A fault on our side. Quote request_id to the operator.",
    example: "Something went wrong here. Quote request_id to the operator.",
  },
  "upstream-unavailable": {
    status: 503,
    title: "Short failure, retry in a few seconds",
    advice:
      "A short failure. Retry after Retry-After seconds; a mark sent again with the same external_id counts once.",
    example: "A part of the service is away. Nothing was lost: retry.",
  },
} satisfies Record<string, RefusalKind>;

export type ProblemCode = keyof typeof table;

/** Every problem code of docs/contract.md 7 and decisions 9: its meaning, and the caller's remedy. */
export const refusals: Readonly<Record<ProblemCode, RefusalKind>> = table;

/** One fault of a schema check (docs/contract.md 7). */
export interface Fault {
  loc: (string | number)[];
  msg: string;
  type: string;
  input?: unknown;
  ctx?: Record<string, unknown>;
}

interface RefusalKind {
  status: number;
  title: string;
  /** The caller's remedy, shown on the page at its `type`. */
  advice: string;
  /** The usual detail, also in the OpenAPI document, which leaves out the codes of the pages' own calls. */
  example?: string | Details;
}

interface Details {
  detail: string | Fault[];
  limit?: number;
  /** For example `60s`. */
  window?: string;
}

/** A refusal, as data. One middleware turns it into problem+json. */
export interface Refusal extends Details {
  code: ProblemCode;
  /** On 429 and 503: seconds for `Retry-After`. */
  retryAfterS?: number;
  headers?: Record<string, string>;
  /** The subject of an operator's act, for the command line, which has its own wording. */
  about?: { what: string; id?: number | string; state?: string; why?: string };
}

/** A refusal with a detail that says what was expected and what to do: by default the example of its code. */
export const refuse = (
  code: ProblemCode,
  detail: string | Fault[] = detailsOf(code).detail,
  more: Omit<Refusal, "code" | "detail"> = {},
): Refusal => ({ code, detail, ...more });

/** The example of a code; throws if it has none. */
export function detailsOf(code: ProblemCode): Details {
  const { example } = refusals[code];
  if (example === undefined) throw new Error(`no example of ${code}`);
  return typeof example === "string" ? { detail: example } : example;
}

export const isRefusal = (value: object): value is Refusal => "code" in value && "detail" in value;
