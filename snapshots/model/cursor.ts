import { hash } from "node:crypto";

/** Where the next page of /stations/all begins, and the time that all its pages carry (decisions.md 7). */
export interface Cursor {
  /** Id of the last station of the page before. */
  after: string;
  asOfMs: number;
}

/** An opaque cursor for these filters. */
export function makeCursor({ after, asOfMs }: Cursor, filters: string): string {
  const text = `${asOfMs / 1000}.${after}`;
  return Buffer.from(`${text}.${check(text, filters)}`).toString("base64url");
}

/** Null when the cursor is malformed or was made with other filters. */
export function readCursor(cursor: string, filters: string): Cursor | null {
  const text = Buffer.from(cursor, "base64url").toString();
  // The decoder leaves out what is no base64url: one cursor must not have several spellings.
  if (Buffer.from(text).toString("base64url") !== cursor) return null;
  const match = /^(-?\d{1,12})\.([A-Za-z0-9_-]{1,64})\.([\w-]{11})$/.exec(text);
  if (match === null) return null;
  const [, seconds, after, sum] = match as unknown as [string, string, string, string];
  if (sum !== check(`${seconds}.${after}`, filters)) return null;
  return { after, asOfMs: Number(seconds) * 1000 };
}

const check = (text: string, filters: string): string =>
  hash("sha1", `${text}\n${filters}`, "base64url").slice(0, 11);
