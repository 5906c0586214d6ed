import { type Contract, createContract, type OpenApi } from "#test/harness/contract.ts";
import { readWhole } from "#test/harness/lists.ts";

const apiBase = "/api/v1/partner";
const plainFetch = globalThis.fetch;
/** By origin; its value names the document in `contracts`. */
const webs = new Map<string, string>();
/** Servers of one build have the same document but for the URLs in examples, and to ask each would take its time. */
const ofThisBuild = "of this build";
const contracts = new Map<string, Promise<Contract | null>>();
const broken: string[] = [];

/**
 * From now on every answer of this server that `fetch` sees is read whole, and checked against the OpenAPI document.
 *
 * @param document whose: every server's of this build, or this one's own
 */
export const watchWeb = (origin: string, document: "shared" | "own" = "shared"): void =>
  void webs.set(origin, document === "own" ? origin : ofThisBuild);

/** No longer: it stopped, and its port may be another server's next, or it has other routes than the product's. */
export const unwatchWeb = (origin: string): void => {
  webs.delete(origin);
  contracts.delete(origin);
};

/** Puts the check into `fetch`, for all tests and the partner's client. */
export function watchFetch(): void {
  globalThis.fetch = async (input, init) => {
    const response = await plainFetch(input, init);
    const url = new URL(response.url);
    if (webs.has(url.origin) && url.pathname.startsWith(`${apiBase}/`)) {
      const { status, headers } = response;
      // A stream has no end, and another body may be cut off on purpose.
      const bytes =
        typeOf(headers) === "text/event-stream"
          ? null
          : await response
              .clone()
              .arrayBuffer()
              .catch(() => null);
      const body = bytes && new TextDecoder().decode(bytes);
      const length = bytes?.byteLength;
      await checkAnswer(url, init?.method ?? "GET", { status, headers, body, length });
    }
    return response;
  };
}

const largeBytes = 50_000;
const spared = new Map<string, number>();

/** Whether a list is too long for its schema each time: long ones are held against it five times, then every tenth time. */
function isSpared(pathname: string, headers: Headers, body: string | null): boolean {
  if (body === null || body.length < largeBytes) return false;
  const kind = `${pathname} ${headers.get("content-type")}`;
  const count = spared.get(kind) ?? 0;
  spared.set(kind, count + 1);
  return count >= 5 && count % 10 !== 0;
}

const typeOf = (headers: Headers): string => headers.get("content-type")?.split(";")[0] ?? "";

/** What is wrong with a body as such, whatever the document says: each one is read whole. */
function bodyFault({ headers, body, length }: Watched, method: string): string | null {
  const named = headers.get("content-length");
  if (body === null || method === "HEAD") return null;
  const isPlain = headers.get("content-encoding") === null;
  if (isPlain && named !== null && length !== undefined && Number(named) !== length)
    return `a body of ${length} bytes under Content-Length: ${named}`;
  try {
    readWhole(typeOf(headers), body, headers.get("x-count"));
    return null;
  } catch (error) {
    return `a broken body: ${(error as Error).message}`;
  }
}

interface Watched {
  status: number;
  headers: Headers;
  body: string | null;
  /** Bytes of the body, unpacked, where they were counted. */
  length?: number | undefined;
}

/**
 * Throws when an answer of the server at `url` is not whole, or not as its document says. For what is not asked by
 * `fetch`.
 */
export async function checkAnswer(
  { origin, pathname }: URL,
  method: string,
  answer: Watched,
): Promise<void> {
  const path = pathname.slice(apiBase.length);
  if (/^\/openapi(-3\.0)?\.json$/.test(path)) return;
  const { status, headers, body } = answer;
  const broke = (what: string): never => {
    const text = `${method} ${path} was answered ${status} ${what}\n${body?.slice(0, 500)}`;
    broken.push(text);
    throw new Error(text);
  };
  const ofBody = bodyFault(answer, method);
  if (ofBody !== null) broke(`with ${ofBody}`);
  const name = webs.get(origin) ?? ofThisBuild;
  const asked = contracts.get(name) ?? contractOf(origin);
  contracts.set(name, asked);
  const contract = await asked;
  // The server was gone by then: the next one is asked.
  if (contract === null) contracts.delete(name);
  const shown = isSpared(pathname, headers, body) ? null : body;
  const fault = contract?.({ status, headers, method, path, body: shown }) ?? null;
  if (fault !== null) broke(`otherwise than the OpenAPI document says: ${fault}`);
}

/** Faults so far, also those that a test has swallowed. Clears them. */
export const takeBroken = (): string[] => broken.splice(0);

async function contractOf(origin: string): Promise<Contract | null> {
  const asked = await plainFetch(`${origin}${apiBase}/openapi.json`).catch(() => null);
  return asked?.ok === true ? createContract((await asked.json()) as OpenApi) : null;
}
