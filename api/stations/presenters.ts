import { hash } from "node:crypto";
import { matchesEtag } from "#api/http/etag.ts";
import type { ReplyShape } from "#api/openapi/answers.ts";
import type { HeaderName } from "#api/openapi/headers.ts";
import type { ApiContext } from "#api/http/route.ts";
import { listHead, type ListRest, listTail } from "#snapshots/model/envelope.ts";
import type { Piece } from "#snapshots/model/area-selection.ts";
import { formatTime, staleAfterHours } from "#src/domain/time.ts";

/** Raise it when the same content is written in another way, so that no caller keeps the old one. */
export const schemaVersion = 3;

/** The values that determine an answer's content and form; `as_of` is not among them (decisions 7). */
interface Tagged {
  route: string;
  /** JSON by default. */
  format?: string;
  /** The query in one spelling. */
  query: readonly unknown[];
  count: number;
  /** Sum of the stations' digests. */
  sum: string;
}

/** The weak ETag of an answer to this kind of key, equal on every process that has the same content. */
export function etagOf(
  { state: { key } }: ApiContext,
  { route, format = "json", query, count, sum }: Tagged,
): string {
  const parts = [schemaVersion, key.kind, format, route, query, count, sum];
  return `W/"${hash("sha1", JSON.stringify(parts), "base64url").slice(0, 22)}"`;
}

/** The same for one station: its digest covers all of its content. */
export const stationEtagOf = ({ state: { key } }: ApiContext, sum: string): string =>
  `W/"${schemaVersion}${key.kind === "secret" ? "s" : "p"}${sum}"`;

/**
 * True when the caller has this content: the answer is then 304 with the cursor that a fresh one would have carried.
 * False when the content is still to be set.
 */
export function isUnchanged(ctx: ApiContext, etag: string, asOfMs: number): boolean {
  ctx.res.setHeader("ETag", etag);
  if (!matchesEtag(ctx.headers["if-none-match"], etag)) return false;
  ctx.set("X-As-Of", formatTime(asOfMs));
  ctx.status = 304;
  return true;
}

/** The answer of `isUnchanged` in the OpenAPI document. */
export const unchanged = (sometimes: readonly HeaderName[] = []): Record<number, ReplyShape> => ({
  304: {
    description: "Unchanged: `If-None-Match` names the content's ETag. Counts as a request.",
    headers: ["ETag", "X-As-Of"],
    sometimes,
  },
});

/** The list envelope of docs/contract.md 2.3 around stations that are JSON already. */
export const presentList = (pieces: readonly Piece[], rest: ListRest): Buffer[] => [
  listHead,
  ...pieces.map(({ bytes }) => bytes),
  listTail(rest),
];

/** The envelope of decisions 6 around one station. `lifetimeMs` is the life of a status. */
export function presentStation(fragment: Buffer, asOfMs: number, lifetimeMs: number): Buffer {
  const rest = { as_of: formatTime(asOfMs), stale_after_hours: staleAfterHours(lifetimeMs) };
  return Buffer.concat([stationHead, fragment, Buffer.from(`,${JSON.stringify(rest).slice(1)}`)]);
}

const stationHead = Buffer.from('{"station":');
