import { type ApiError, errorOf, isApiError, noAnswer } from "./problem.ts";
import { isFinal, type Wait } from "./waiting.ts";

export interface CallSettings {
  /** The service's address, with or without `/api/v1/partner`. */
  baseUrl: string;
  /** A secret key. Never put one into a page. */
  key: string;
  /** Attempts after the first one; 4. */
  retries?: number;
  /** A longer wait than this is left to the caller: the error carries `retryAfterS`. Seconds; 60. */
  maxWaitS?: number;
  /** Longest single attempt, seconds; 60. */
  timeoutS?: number;
  /** Told before each wait for the server: after a limit, an error of the server, a lost connection. */
  onWait?: (wait: Wait) => void;
  /** Replaces the global `fetch`: to go through a proxy, to choose a server. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

export interface CallOptions {
  signal?: AbortSignal | undefined;
}

export interface Request {
  method: "GET" | "POST" | "DELETE";
  /** Below `/api/v1/partner`. */
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
  /** May be sent twice without harm. */
  repeatable: boolean;
}

export interface Received {
  status: number;
  headers: Headers;
  /** Parsed JSON; null for 304. */
  body: unknown;
}

export type Call = (request: Request, options?: CallOptions) => Promise<Received>;

/**
 * Sends requests and tries again where that is safe: after a minute's limit, 503 and the like and lost connections,
 * waiting as long as `Retry-After` says, else longer each time. Throws an ApiError in the end, or the signal's reason.
 * An error that no waiting mends (see `isFinal`) comes at once; settings that cannot work throw a TypeError here.
 */
export function createCall(settings: CallSettings): Call {
  const { retries = 4, maxWaitS = 60, onWait } = settings;
  checkSettings(settings);
  return async (request, { signal } = {}) => {
    let since: Date | null = null;
    for (let attempt = 0; ; attempt++) {
      signal?.throwIfAborted();
      try {
        return await send(settings, request, signal);
      } catch (error) {
        signal?.throwIfAborted();
        if (!isApiError(error) || attempt >= retries || !mayRepeat(request, error)) throw error;
        const waitS = error.retryAfterS ?? backoffS(attempt);
        if (waitS > maxWaitS) throw error;
        onWait?.({ error, since: (since ??= new Date()), waitMs: waitS * 1000 });
        await pause(waitS * 1000, signal);
      }
    }
  };
}

/** The address of a call. Documents and the OpenAPI document give that of the API, people that of the service. */
export const addressOf = (baseUrl: string, path: string): string =>
  `${baseUrl.replace(/\/+$/, "").replace(/\/api\/v1\/partner$/, "")}/api/v1/partner${path}`;

/** Otherwise each request would fail in the same way, which looks like a server that is away. */
function checkSettings({ baseUrl, key }: CallSettings): void {
  if (!URL.canParse(baseUrl) || !/^https?:$/.test(new URL(baseUrl).protocol))
    throw new TypeError(`baseUrl is https://host or http://host, and not ${baseUrl}`);
  // Often the line feed at the end of a file. The key itself belongs into no log.
  if (typeof key !== "string" || !/^[!-~]+$/.test(key))
    throw new TypeError("key is empty, or holds a blank, a line feed or another foreign character");
}

async function send(
  { baseUrl, key, timeoutS = 60, fetch: send = fetch }: CallSettings,
  { method, path, headers, body }: Request,
  signal: AbortSignal | undefined,
): Promise<Received> {
  const limit = limited(signal, timeoutS);
  let response: Response;
  let text: string;
  try {
    response = await send(addressOf(baseUrl, path), {
      method,
      headers: {
        Authorization: `Bearer ${key}`,
        Accept: "application/json",
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: limit.signal,
    });
    if (response.status >= 400) throw await errorOf(response);
    text = await response.text();
  } catch (error) {
    throw isApiError(error) ? error : noAnswer(error);
  } finally {
    limit.end();
  }
  try {
    return {
      status: response.status,
      headers: response.headers,
      body: text === "" ? null : JSON.parse(text),
    };
  } catch (error) {
    throw noAnswer(error);
  }
}

/** A signal that also fires after so many seconds. Not AbortSignal.any: it stays attached to a long-lived signal. */
function limited(outer: AbortSignal | undefined, seconds: number) {
  const inner = new AbortController();
  const pass = (): void => inner.abort(outer?.reason);
  const late = new Error(`no answer within ${seconds} s`);
  const timer = setTimeout(() => inner.abort(late), seconds * 1000);
  outer?.addEventListener("abort", pass, { once: true });
  return {
    signal: inner.signal,
    end: (): void => {
      clearTimeout(timer);
      outer?.removeEventListener("abort", pass);
    },
  };
}

/** A request over the minute's limit has not been processed; any other is repeated only if that does no harm. */
const mayRepeat = ({ repeatable }: Request, error: ApiError): boolean =>
  error.code === "rate-limit-exceeded" ||
  (repeatable && [0, 502, 503, 504].includes(error.status) && !isFinal(error));

/** Half a second, doubled each time up to 30 s, with some chance in it so that callers do not march in step. */
const backoffS = (attempt: number): number =>
  Math.min(30, 0.5 * 2 ** attempt) * (0.5 + Math.random() / 2);

/** Longer ones would end at once: Node counts them in 32 bits. */
export const longestMs = 2 ** 31 - 1;

/** Waits, at most 24 days; rejects with the signal's reason when it is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const end = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(
      () => {
        signal?.removeEventListener("abort", end);
        resolve();
      },
      Math.min(ms, longestMs),
    );
    signal?.addEventListener("abort", end, { once: true });
  });
}
