import type { Closure } from "#src/domain/closure.ts";
import type { FuelBlock } from "#src/domain/state.ts";
import { page } from "#web/widget/page.ts";
import { refusalOf, type Told } from "#web/widget/told.ts";

/** A station as the API serves it (docs/contract.md 2.1). */
export interface Station {
  id: string;
  lat: number;
  lon: number;
  brand: string;
  name: string;
  addr: string;
  grades_sold?: string;
  opening_hours?: string;
  closed?: Closure;
  fuel: FuelBlock;
}

export interface City {
  name: string;
  region: string;
  lat: number;
  lon: number;
  zoom: number;
  population: number;
}

interface Ask {
  etag?: string | null;
  signal?: AbortSignal;
  /** Sent as JSON by POST. */
  body?: object;
  /** Another base than the API's. */
  api?: string;
}

/** Without a word for so long there is no network; a slow one may take longer for a large answer. */
const patienceMs = 20_000;
let aheadMs = 0;

/** The server's time as far as its answers tell it: a wrong clock must not make statuses old. */
export const serverNow = (): number => Date.now() + aheadMs;

/** The offset as of the last answer of the service; it holds until the next one. */
export function setServerNow(ahead: number): void {
  aheadMs = ahead;
}

/** Asks the API with the page's key. Never rejects. */
export async function ask<T>(
  path: string,
  { etag, signal, body, api = page.api }: Ask = {},
): Promise<Told<T>> {
  const headers: Record<string, string> = { Authorization: `Bearer ${page.key}` };
  if (etag) headers["If-None-Match"] = etag;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const stop = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const heard = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => stop.abort(), patienceMs);
  };
  heard();
  signal?.addEventListener("abort", () => stop.abort(), { once: true });
  try {
    const response = await fetch(api + path, {
      method: body === undefined ? "GET" : "POST",
      headers,
      // The page keeps its answers and asks by ETag: a cache in between could only be older.
      cache: "no-store",
      signal: stop.signal,
      // A mark arrives even if the driver leaves the page meanwhile.
      keepalive: body !== undefined,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    noteTime(response);
    heard();
    if (response.status === 304) return { kind: "same" };
    if (response.ok)
      return {
        kind: "ok",
        body: JSON.parse(await textOf(response, heard)) as T,
        etag: response.headers.get("ETag"),
      };
    return await refusalOf(response);
  } catch {
    return signal?.aborted === true ? { kind: "aborted" } : { kind: "offline" };
  } finally {
    clearTimeout(timer);
  }
}

/** The whole body, with a call of `heard` for each piece. */
async function textOf({ body }: Response, heard: () => void): Promise<string> {
  const pieces = body!.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (let next = await pieces.read(); !next.done; next = await pieces.read()) {
    heard();
    text += decoder.decode(next.value, { stream: true });
  }
  return text;
}

export const askStation = (id: string): Promise<Told<{ station: Station }>> =>
  // Of letters alone it could be the name of a list: with one encoded it is an id (decisions 7.59).
  ask(`/stations/${encodeURIComponent(id).replace(/^[a-z](?=[a-z]+$)/i, hex)}`);
const hex = (letter: string): string => `%${letter.charCodeAt(0).toString(16)}`;

/** The station of that id; "unknown" when there is none, null when nobody answers. */
export async function findStation(id: string): Promise<Station | "unknown" | null> {
  const told = await askStation(id);
  if (told.kind === "refused" && told.status === 404) return "unknown";
  return told.kind === "ok" ? told.body.station : null;
}

function noteTime(response: Response): void {
  const at = Date.parse(response.headers.get("Date") ?? "");
  // Its header has whole seconds: half of one is the best guess.
  if (Number.isFinite(at)) aheadMs = at + 500 - Date.now();
}
