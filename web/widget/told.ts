import type { FuelBlock } from "#src/domain/state.ts";

/** The API's answer, or the fact that it could not be asked. */
export type Told<T> =
  | { kind: "ok"; body: T; etag: string | null }
  | { kind: "same" }
  | Refused
  | { kind: "offline" }
  | { kind: "aborted" };

export interface Refused {
  kind: "refused";
  status: number;
  code: string;
  window: string;
  retryAfterS: number | null;
}

/** Answer to a mark, docs/contract.md 2.8. */
export interface Report {
  accepted: boolean;
  remote: boolean;
  duplicate: boolean;
  published: { outcome: string; needed: number | null; have: number | null };
  fuel: FuelBlock;
}

/** Reads the refusal that an answer holds. */
export async function refusalOf(response: Response): Promise<Refused> {
  const { type = "", window = "" } = (await response.json().catch(() => ({}))) as {
    type?: string;
    window?: string;
  };
  const retry = response.headers.get("Retry-After");
  return {
    kind: "refused",
    status: response.status,
    code: type.slice(type.lastIndexOf("/") + 1),
    window,
    retryAfterS: retry === null ? null : Number(retry),
  };
}
