import type { Problem } from "./types.ts";

/** An answer that is not a success, or the want of one: `status` 0 and code `no-answer` for network errors. */
export interface ApiError extends Error {
  status: number;
  /** Last part of the problem's type: `window-too-old`. */
  code: string;
  problem: Problem | null;
  /** Seconds to wait, where the server said so. */
  retryAfterS: number | null;
}

export const isApiError = (error: unknown): error is ApiError =>
  error instanceof Error && error.name === "FuelmarkError";

/** The error of an answer with a status of 400 and more. */
export async function errorOf(response: Response): Promise<ApiError> {
  const problem = await readProblem(response);
  const code = problem?.type.split("/").at(-1) ?? `http-${response.status}`;
  const detail =
    typeof problem?.detail === "string" ? problem.detail : JSON.stringify(problem?.detail);
  const message = `${response.status} ${code}${detail === undefined ? "" : `: ${detail}`}`;
  const retryAfterS = secondsOf(response.headers.get("retry-after"), Date.now());
  return make(message, { status: response.status, code, problem, retryAfterS });
}

/** The error of a request that got no whole answer. */
export function noAnswer(cause: unknown): ApiError {
  const error = make(reasonOf(cause), {
    status: 0,
    code: "no-answer",
    problem: null,
    retryAfterS: null,
  });
  return Object.assign(error, { cause });
}

/** `fetch failed` alone helps nobody: its cause names the host that refused, or the unknown name. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as { code?: unknown };
  const own = error.message || (typeof code === "string" ? code : error.name);
  return error.cause instanceof Error ? `${own}: ${reasonOf(error.cause)}` : own;
}

const make = (message: string, fields: Omit<ApiError, keyof Error>): ApiError =>
  Object.assign(new Error(message), { name: "FuelmarkError", ...fields });

async function readProblem(response: Response): Promise<Problem | null> {
  try {
    const body = (await response.json()) as Partial<Problem> | null;
    return typeof body?.type === "string" ? (body as Problem) : null;
  } catch {
    // A proxy on the way may answer with anything.
    return null;
  }
}

/** `Retry-After` as seconds or as a date. */
export function secondsOf(header: string | null, now: number): number | null {
  if (header === null) return null;
  if (/^\d+$/.test(header.trim())) return Number(header);
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - now) / 1000));
}
