import type { ProblemCode } from "#src/contract/refusals.ts";

/** What a caller can do about each code, for the page that its `type` leads to. */
export const problemAdvice: Record<ProblemCode, string> = {
  "invalid-key":
    "Send the header Authorization: Bearer <KEY>. Check that the key was copied whole; a lost, revoked or expired key cannot be recovered: ask the operator for a new one.",
  "sign-in-failed":
    "Check the name and the password, or the key. An operator with access to the server makes new ones with `account reset`.",
  "operator-role-required":
    "The account has the role viewer. `account set-role NAME operator` on the server gives it the other.",
  "session-over":
    "Sessions of the dashboard and the console last 12 hours and end with the key or account they were entered with. Sign in again.",
  "domain-not-allowed":
    "A publishable key works on the domains it was issued for and on their subdomains. Ask the operator to add the domain of this page.",
  "ip-not-allowed":
    "The key is bound to your servers' addresses. Call from one of them, or ask the operator to add the new address.",
  "secret-key-required":
    "Publishable keys read areas, single stations and cities for the widget. Make this call from your server with a secret key, and never put that key on a page.",
  "partner-disabled": "The operator has switched this partner off. Ask the operator.",
  "cross-site-request":
    "The dashboard and the console take changes from their own pages only. Open them at the service's public address.",
  "reports-disabled": "The operator has not enabled mark-taking for this key. Ask the operator.",
  "not-found":
    "Compare the path with the documentation: case counts, and there is no slash at the end.",
  "station-not-found":
    "Station ids come from the id field of /stations and /stations/all. Stations taken out of service are listed in removed of /stations/delta.",
  "city-not-found":
    "Take the name from /cities. Send it percent-encoded in UTF-8; case and the letter ё do not matter.",
  "report-not-found": "Reports are kept for 7 days and can be read by the partner that sent them.",
  "method-not-allowed": "The header Allow lists the methods of this path.",
  "already-done": "Somebody was faster, or it was done before. Load the page again.",
  "import-running": "Wait until the import that runs has ended, then send the file again.",
  "limit-request-pending":
    "Wait for the operator's decision on your first request, then send the next.",
  "own-mark": "A mark needs the confirmation of another person.",
  "nothing-pending":
    "The status was published or has expired in the meantime. Read the station again.",
  "body-too-large": "Send a smaller body: 64 KiB, or 1 MiB for a batch of reports.",
  "unsupported-media-type":
    "Send JSON in UTF-8 with Content-Type: application/json and without Content-Encoding.",
  "validation-failed":
    "detail lists each fault: loc says where it is, msg what was expected. Correct the request; repeating it as it is will fail again.",
  "bad-bbox":
    "bbox is lat1,lon1,lat2,lon2: four decimal numbers, south-west corner first, latitudes from -90 to 90, longitudes from -180 to 180.",
  "bad-timestamp":
    "Send UTC as YYYY-MM-DD HH:MM:SS or ISO 8601, with a time of day. For /stations/delta take as_of of the previous answer.",
  "bad-grade": "Grades are 92, 95, 98, 100 and ДТ (also dt, дизель).",
  "bad-cursor":
    "Take next_cursor of the previous page, with the same filters. Start again without a cursor.",
  "missing-area": "Give bbox or city. For the whole country use /stations/all.",
  "window-too-old":
    "Changes are kept for 48 hours. Take a full snapshot from /stations/all and go on from its as_of.",
  "too-far": "The operator takes marks of this partner only with a position at the station.",
  "rate-limit-exceeded":
    "Wait for the number of seconds in Retry-After. If you need more, file a limit request.",
  "daily-quota-exceeded":
    "The quota starts again at 00:00 UTC; Retry-After says in how many seconds. If you need more, file a limit request.",
  "station-cooldown":
    "One user can mark a station once in 20 minutes (2 with express). Retry after Retry-After, or drop the mark.",
  "user-rate-limited": "This user has reached the hourly or daily cap. Retry after Retry-After.",
  "new-users-limit":
    "Too many users were seen for the first time today. Marks of known users still pass.",
  "internal-error": "A fault on our side. Quote request_id to the operator.",
  "upstream-unavailable":
    "A short failure. Retry after Retry-After seconds; a mark sent again with the same external_id counts once.",
};
