import type { Refusal, ProblemCode } from "#src/contract/refusals.ts";

type Example = Pick<Refusal, "detail" | "limit" | "window">;

/** What each problem of the API says, for its OpenAPI document. Codes of the pages' own calls are not among them. */
export const refusalExamples: Partial<Record<ProblemCode, Example>> = {
  "invalid-key": {
    detail:
      "Send `Authorization: Bearer <KEY>` with a key that is in force. A key that is wrong, revoked or expired is refused.",
  },
  "domain-not-allowed": {
    detail: "This key is bound to other domains than the calling page's.",
  },
  "ip-not-allowed": { detail: "This key is bound to other addresses than 192.0.2.17." },
  "secret-key-required": {
    detail: "Call this from your server with a secret key (svc_live_…).",
  },
  "partner-disabled": { detail: "Access of this partner is switched off. Ask the operator." },
  "reports-disabled": { detail: "Mark-taking is not enabled for this key. Ask the operator." },
  "not-found": { detail: "No such path. Paths are case-sensitive and end without a slash." },
  "station-not-found": { detail: "No station of that id; ids come from GET /stations." },
  "city-not-found": {
    detail: "No city of that name. Names are percent-encoded UTF-8; GET /cities?q= finds them.",
  },
  "report-not-found": { detail: "There is no such report of yours. Reports are kept for 7 days." },
  "method-not-allowed": { detail: "Use one of: GET, HEAD, OPTIONS." },
  "limit-request-pending": {
    detail: "An earlier request of yours waits for the operator's decision.",
  },
  "own-mark": { detail: "The author of a mark cannot confirm it." },
  "nothing-pending": { detail: "That status is not pending at this station now." },
  "body-too-large": { detail: "A body of this call may have 65536 bytes." },
  "unsupported-media-type": {
    detail: "Send `Content-Type: application/json` in UTF-8 and no Content-Encoding.",
  },
  "validation-failed": {
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
  "bad-bbox": {
    detail:
      "bbox is lat1,lon1,lat2,lon2 in decimal degrees, south-west corner first: 54.9,82.7,55.2,83.2.",
  },
  "bad-timestamp": {
    detail: "A UTC time like 2026-01-31 18:05:00 or 2026-01-31T18:05:00Z is expected.",
  },
  "bad-grade": {
    detail: 'Unknown fuel grade "93". Allowed: 92, 95, 98, 100, ДТ (also dt, дизель for ДТ).',
  },
  "bad-cursor": { detail: "cursor is next_cursor of the page before, with the same filters." },
  "missing-area": { detail: "Give bbox=lat1,lon1,lat2,lon2 or city=NAME." },
  "window-too-old": {
    detail: "updated_since may be at most 48 hours ago. Take GET /stations/all again.",
  },
  "too-far": { detail: "This position is not at the station, and only such marks are taken." },
  "rate-limit-exceeded": {
    detail: "120 requests a minute are used up. Wait Retry-After seconds.",
    limit: 120,
    window: "60s",
  },
  "daily-quota-exceeded": {
    detail: "50000 requests a day are used up until 00:00 UTC.",
    limit: 50_000,
    window: "86400s",
  },
  "station-cooldown": {
    detail: "This user marked this station a short time ago.",
    limit: 1,
    window: "1200s",
  },
  "user-rate-limited": {
    detail: "This user has sent as many marks as one may.",
    limit: 12,
    window: "3600s",
  },
  "new-users-limit": {
    detail: "As many new users as may were seen today. Marks of known users still pass.",
    limit: 500,
    window: "86400s",
  },
  "internal-error": {
    detail: "Something went wrong here. Quote request_id to the operator.",
  },
  "upstream-unavailable": {
    detail: "A part of the service is away. Nothing was lost: retry.",
  },
};
