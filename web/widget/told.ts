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
  return {
    kind: "refused",
    status: response.status,
    code: type.slice(type.lastIndexOf("/") + 1),
    window,
    retryAfterS: secondsOf(response.headers.get("Retry-After") ?? ""),
  };
}

/** `Retry-After` as seconds or as a date, which a proxy may send; null when it is neither. The device's clock may be wrong. */
function secondsOf(header: string): number | null {
  if (/^\d+$/.test(header)) return Number(header);
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.min(3600, Math.max(0, Math.ceil((at - Date.now()) / 1000)));
}
