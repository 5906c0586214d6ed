import { hash } from "node:crypto";
import { matchesEtag } from "#api/http/etag.ts";
import type { ApiRequest, Reply } from "#api/http/route.ts";
import { listHead, type ListRest, listTail } from "#snapshots/model/envelope.ts";
import type { Piece } from "#snapshots/model/selection.ts";
import { formatTime, staleAfterHours } from "#src/domain/time.ts";

/** Raise it when the same content is written in another way, so that no caller keeps the old one. */
const schemaVersion = 1;

/** What an answer's content and form follow from; `as_of` is not part of it (decisions.md 7). */
interface Tagged {
  route: string;
  /** JSON where nothing is said. */
  format?: string;
  /** The query in one spelling. */
  query: readonly unknown[];
  count: number;
  /** Sum of the stations' digests. */
  sum: string;
}

/** The weak ETag of an answer to this kind of key, equal on every process that has the same content. */
export function etagOf(
  { key }: ApiRequest,
  { route, format = "json", query, count, sum }: Tagged,
): string {
  const parts = [schemaVersion, key.kind, format, route, query, count, sum];
  return `W/"${hash("sha1", JSON.stringify(parts), "base64url").slice(0, 22)}"`;
}

/** The same of one station: its digest says all that its content can say. */
export const stationEtagOf = ({ key }: ApiRequest, sum: string): string =>
  `W/"${schemaVersion}${key.kind === "secret" ? "s" : "p"}${sum}"`;

interface Condition {
  etag: string;
  asOfMs: number;
  headers?: Record<string, string>;
}

/** 304 with the cursor that a fresh answer would have carried, or the answer itself. */
export function conditional(
  request: ApiRequest,
  { etag, asOfMs, headers }: Condition,
  present: () => Reply | Promise<Reply>,
): Reply | Promise<Reply> {
  if (matchesEtag(request.headers["if-none-match"], etag))
    return { status: 304, headers: { ...headers, ETag: etag, "X-As-Of": formatTime(asOfMs) } };
  const reply = present();
  return reply instanceof Promise
    ? reply.then((late) => tagged(late, etag, headers))
    : tagged(reply, etag, headers);
}

const tagged = (reply: Reply, etag: string, headers: Condition["headers"]): Reply => ({
  ...reply,
  headers: { ...headers, ...reply.headers, ETag: etag },
});

/** The list envelope of partner-api.md 2.3 around stations that are JSON already. */
export const presentList = (pieces: readonly Piece[], rest: ListRest): Reply => ({
  slices: [listHead, ...pieces.map(({ bytes }) => bytes), listTail(rest)],
});

/** The envelope of decisions.md 6 around one station. `lifetimeMs` is the life of a status. */
export function presentStation(fragment: Buffer, asOfMs: number, lifetimeMs: number): Reply {
  return { body: Buffer.concat([stationHead, fragment, stationTail(asOfMs, lifetimeMs)]) };
}

const stationHead = Buffer.from('{"station":');
let lastTail = { asOfMs: Number.NaN, lifetimeMs: Number.NaN, bytes: stationHead };

/** The same for all answers of a second. */
function stationTail(asOfMs: number, lifetimeMs: number): Buffer {
  if (lastTail.asOfMs !== asOfMs || lastTail.lifetimeMs !== lifetimeMs) {
    const rest = { as_of: formatTime(asOfMs), stale_after_hours: staleAfterHours(lifetimeMs) };
    const bytes = Buffer.from(`,${JSON.stringify(rest).slice(1)}`);
    lastTail = { asOfMs, lifetimeMs, bytes };
  }
  return lastTail.bytes;
}
