import type { Drawn } from "#test/fuzz/requests.ts";
import type { Heard, WireAnswer } from "#test/harness/wire.ts";
import type { Contract } from "#test/harness/contract.ts";

const apiBase = "/api/v1/partner";
const statuses = new Set([
  ...[200, 201, 202, 204, 304, 401, 403, 404, 405, 409, 413, 415, 422, 429, 503],
]);

/** Says what is wrong with the answer to a request whose path is known; null when nothing is. */
export function judge(contract: Contract, { method, target }: Drawn, heard: Heard): string | null {
  const [answer, ...more] = heard.answers;
  if (answer === undefined) return `no answer${heard.closed ? ", closed" : ""}`;
  if (more.length > 0) return `${heard.answers.length} answers`;
  if (answer.status === 500) return "500";
  const path = pathOf(target);
  if (path === null || /^\/openapi(-3\.0)?\.json$/.test(path)) return judgeAny(answer);
  return contract({ ...answer, method, path });
}

/** What holds for every answer, whatever the request was. */
export function judgeAny({ status, headers, body }: WireAnswer): string | null {
  if (!statuses.has(status)) return `status ${status}`;
  if (status < 400) return null;
  if (headers.get("content-type") !== "application/problem+json") return "not problem+json";
  // HEAD, or not read whole.
  if (!body) return null;
  const { type, request_id, status: said } = JSON.parse(body) as Record<string, unknown>;
  if (typeof type !== "string" || said !== status) return `not a problem: ${body}`;
  return request_id === headers.get("x-request-id") ? null : "without its request_id";
}

/** The path below the API's base as the service reads it; null when it is elsewhere. */
function pathOf(target: string): string | null {
  const local = target.replace(/^https?:\/\/[^/?#]*/i, "").replace(/[?#].*$/s, "");
  if (!local.startsWith(`${apiBase}/`)) return null;
  return local
    .slice(apiBase.length)
    .split("/")
    .map((part) => decoded(part).replaceAll("/", "_"))
    .join("/");
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** How many marks and limit requests this answer says to have been stored. */
export function storedBy({ status, body }: WireAnswer): { marks: number; limitRequests: number } {
  if (!body || status >= 300) return { marks: 0, limitRequests: 0 };
  if (status === 201) return { marks: 0, limitRequests: 1 };
  const said = parsed(body);
  const reports = Array.isArray(said?.["reports"]) ? (said["reports"] as Said[]) : [said];
  return { marks: reports.filter((one) => isStored(one)).length, limitRequests: 0 };
}

type Said = Record<string, unknown> | null;

/** GET /reports/{report_id} shows a mark of before; it alone has a `state`. */
const isStored = (said: Said): boolean =>
  typeof said?.["report_id"] === "string" &&
  said["report_id"] !== "" &&
  said["duplicate"] === false &&
  said["state"] === undefined;

function parsed(body: string): Said {
  try {
    return JSON.parse(body) as Said;
  } catch {
    // Lines of JSON.
    return null;
  }
}
