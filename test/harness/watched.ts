import { type Contract, createContract, type OpenApi } from "#test/harness/contract.ts";

const apiBase = "/api/v1/partner";
const plainFetch = globalThis.fetch;
/** By origin; its value names the document in `contracts`. */
const webs = new Map<string, string>();
/** Servers of one build have the same document but for the URLs in examples, and to ask each would take its time. */
const ofThisBuild = "of this build";
const contracts = new Map<string, Promise<Contract | null>>();
const broken: string[] = [];

/**
 * From now on every answer of this server that `fetch` sees is checked against the OpenAPI document (`isSpared`).
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
      const method = init?.method ?? "GET";
      const body = isSpared(url, response.headers)
        ? null
        : // A body may be cut off on purpose.
          await response
            .clone()
            .text()
            .catch(() => null);
      await checkAnswer(url, method, { status: response.status, headers: response.headers, body });
    }
    return response;
  };
}

const largeBytes = 50_000;
const spared = new Map<string, number>();

/** Whether only status and headers are looked at: long lists are read whole five times, and then every tenth time. */
function isSpared({ pathname }: URL, headers: Headers): boolean {
  const length = headers.get("content-length");
  if (headers.get("content-type") === null) return false;
  // A stream has no end.
  if (headers.get("content-type") === "text/event-stream") return true;
  if (length !== null && Number(length) < largeBytes) return false;
  const kind = `${pathname} ${headers.get("content-type")}`;
  const count = spared.get(kind) ?? 0;
  spared.set(kind, count + 1);
  return count >= 5 && count % 10 !== 0;
}

/** Throws when an answer of the server at `url` is not as its document says. For what is not asked by `fetch`. */
export async function checkAnswer(
  { origin, pathname }: URL,
  method: string,
  answer: { status: number; headers: Headers; body: string | null },
): Promise<void> {
  const path = pathname.slice(apiBase.length);
  if (/^\/openapi(-3\.0)?\.json$/.test(path)) return;
  const name = webs.get(origin) ?? ofThisBuild;
  const asked = contracts.get(name) ?? contractOf(origin);
  contracts.set(name, asked);
  const contract = await asked;
  // The server was gone by then: the next one is asked.
  if (contract === null) contracts.delete(name);
  const fault = contract?.({ ...answer, method, path }) ?? null;
  if (fault === null) return;
  const { status, body } = answer;
  const text = `${method} ${path} was answered ${status} otherwise than the OpenAPI document says: ${fault}\n${body?.slice(0, 500)}`;
  broken.push(text);
  throw new Error(text);
}

/** Faults so far, also those that a test has swallowed. Clears them. */
export const takeBroken = (): string[] => broken.splice(0);

async function contractOf(origin: string): Promise<Contract | null> {
  const asked = await plainFetch(`${origin}${apiBase}/openapi.json`).catch(() => null);
  return asked?.ok === true ? createContract((await asked.json()) as OpenApi) : null;
}
