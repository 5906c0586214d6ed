import { say } from "#web/kit/say.ts";

/** Why a call gave no value. */
export interface Failure {
  /** HTTP status; 0 when the service could not be reached. */
  status: number;
  /** The problem's code: `limit-request-pending`. */
  code: string;
  /** The sentence for the viewer. */
  words: string;
  /** The id by which the operator finds the request; null without one. */
  requestId: string | null;
}

export type Result<T> = { value: T; failure?: never } | { value?: never; failure: Failure };

export interface PageApi {
  /** `unattended`: the page asks by a timer, and nobody need be there. */
  get<T>(path: string, unattended?: boolean): Promise<Result<T>>;
  /** Sends JSON. */
  send<T>(method: "POST" | "PATCH" | "DELETE", path: string, body?: unknown): Promise<Result<T>>;
  /** Sends a file as it is. */
  upload<T>(path: string, file: Blob): Promise<Result<T>>;
}

/**
 * Calls of a page to its own server, relative to the page: `api/overview`. `onOver` is told when the session turns
 * out to be over; the call then fails besides.
 */
export function pageApi(onOver: (words: string) => void): PageApi {
  const call = async <T>(
    method: string,
    path: string,
    { headers = {}, body }: { headers?: Record<string, string>; body?: string | Blob } = {},
  ): Promise<Result<T>> => {
    let response: Response;
    try {
      response = await fetch(`api${path}`, {
        method,
        cache: "no-store",
        headers,
        ...(body === undefined ? {} : { body }),
      });
    } catch {
      return { failure: unreached };
    }
    const answer = await response.json().catch(() => null);
    if (response.ok) return { value: answer as T };
    const failure = failureOf(response.status, answer as Problem | null);
    if (failure.code === "session-over") onOver(failure.words);
    return { failure };
  };
  return {
    get: (path, unattended = false) =>
      call("GET", path, unattended ? { headers: { "X-Unattended": "1" } } : {}),
    send: (method, path, body) =>
      call(method, path, {
        headers: { "Content-Type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    upload: (path, file) =>
      call("POST", path, { headers: { "Content-Type": "application/octet-stream" }, body: file }),
  };
}

interface Problem {
  type?: string;
  title?: string;
  detail?: string | { loc: (string | number)[]; msg: string }[];
  request_id?: string;
}

const unreached: Failure = {
  status: 0,
  code: "unreached",
  words: say("The service cannot be reached. Check your connection, then try again."),
  requestId: null,
};

function failureOf(status: number, problem: Problem | null): Failure {
  const { type = "", title = "", detail, request_id: requestId = null } = problem ?? {};
  const words = Array.isArray(detail)
    ? detail.map(({ loc, msg }) => `${loc.slice(1).join(".")}: ${msg}`).join("; ")
    : detail || title || say("The service answered {status}.", { status: String(status) });
  return { status, code: type.slice(type.lastIndexOf("/") + 1), words, requestId };
}
