import { hash } from "node:crypto";
import { formatTime, staleAfterHours } from "#src/domain/time.ts";

/** The fields besides the stations in the list envelope of docs/contract.md 2.3. */
export interface ListRest {
  count: number;
  asOfMs: number;
  /** Life of a status, ms. */
  lifetimeMs: number;
  truncated: boolean;
  nextCursor?: string;
  /** `/stations/delta` only: ids of stations taken out of service. */
  removed?: readonly string[];
  /** `/stations/delta` only: the present ids of those that are a part of another station now. */
  mergedInto?: Readonly<Record<string, string>> | undefined;
  /** `/stations/delta` only: the digest of all stations in service (decisions 21.29). */
  digest?: string;
  /** `/stations?ids=` only: ids that are not in service. */
  missing?: readonly string[] | undefined;
  /** CSV only: begins with a byte order mark. */
  bom?: boolean | undefined;
  /** `/stations/along` only: the place of each station on the way. */
  along?: readonly object[];
}

/** Stands in for a missing head or tail. */
export const nothing = Buffer.alloc(0);

export const listHead = Buffer.from('{"stations":[');

/** The list envelope after its last station. */
export function listTail(rest: ListRest): Buffer {
  const fields = JSON.stringify({
    count: rest.count,
    as_of: formatTime(rest.asOfMs),
    stale_after_hours: staleAfterHours(rest.lifetimeMs),
    truncated: rest.truncated,
    next_cursor: rest.nextCursor,
    removed: rest.removed,
    merged_into: rest.mergedInto,
    digest: rest.digest,
    missing: rest.missing,
    along: rest.along,
  });
  return Buffer.from(`],${fields.slice(1)}`);
}

/** The beginning of the next page of /stations/all, and the time that all its pages carry (decisions 7). */
export interface Cursor {
  /** Id of the last station of the page before. */
  after: string;
  asOfMs: number;
}

/** An opaque cursor for these filters (see `filtersKey`). */
export function makeCursor({ after, asOfMs }: Cursor, filters: string): string {
  const text = `${asOfMs / 1000}.${after}`;
  return Buffer.from(`${text}.${check(text, filters)}`).toString("base64url");
}

/** Null when the cursor is malformed or was made with other filters. */
export function readCursor(cursor: string, filters: string): Cursor | null {
  const text = Buffer.from(cursor, "base64url").toString();
  // The decoder skips characters outside base64url; each cursor must have one spelling only.
  if (Buffer.from(text).toString("base64url") !== cursor) return null;
  const match = /^(-?\d{1,12})\.([A-Za-z0-9_-]{1,64})\.([\w-]{11})$/.exec(text);
  if (match === null) return null;
  const [, seconds, after, sum] = match as unknown as [string, string, string, string];
  if (sum !== check(`${seconds}.${after}`, filters)) return null;
  return { after, asOfMs: Number(seconds) * 1000 };
}

const check = (text: string, filters: string): string =>
  hash("sha1", `${text}\n${filters}`, "base64url").slice(0, 11);
