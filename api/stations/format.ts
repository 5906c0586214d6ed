import { hash } from "node:crypto";
import Negotiator from "negotiator";
import { Type } from "typebox";
import { LRUCache } from "lru-cache";
import { refused } from "#api/http/errors.ts";
import { type Representation, sendJson, sendRepresentation } from "#api/http/respond.ts";
import type { Form, ReplyShape } from "#api/openapi/answers.ts";
import type { HeaderName } from "#api/openapi/headers.ts";
import { stationExample, stationLine } from "#src/contract/shapes/stations.ts";
import type { ApiContext, Written } from "#api/http/route.ts";
import {
  type ListRest,
  listHead,
  listTail,
  type Format,
  forms,
  written,
  wholeList,
} from "#snapshots/model/forms.ts";
import { sizeOf, type Piece } from "#snapshots/model/area-selection.ts";
import type { Answer } from "#snapshots/model/queries.ts";
import { byteOrderMark, csvColumns, writeCsv } from "#snapshots/model/csv.ts";
import { formatTime, staleAfterHours } from "#src/domain/time.ts";
import { isCrowded } from "#src/infrastructure/turns.ts";
import {
  matchesEtag,
  compressPieces,
  compressQuickly,
  pickEncoding,
} from "#api/http/negotiation.ts";
import { gzipMember, packPieces, type Packed } from "#snapshots/model/gzip-stitch.ts";
import { giveBack } from "#snapshots/model/long-buffers.ts";
import type { Coding } from "#snapshots/rectangles/rectangle-store.ts";

/** The forms in which a list of stations is given out (decisions 7), the preferred one first. */
const mediaTypes: Record<Format, string> = {
  json: "application/json",
  geojson: "application/geo+json",
  ndjson: "application/x-ndjson",
  csv: "text/csv",
};

/**
 * The form that the `Accept` header asks for (RFC 9110 12.5.1). JSON when nothing fits. CSV is for secret keys
 * only, because it is written anew for each answer (decisions 8.28).
 */
export function pickFormat(ctx: Pick<ApiContext, "headers" | "state">): Format {
  const { accept = "*/*" } = ctx.headers;
  // Most callers send one of these: reading it as a list of types takes longer than the rest of a 304.
  if (accept === "*/*" || accept === mediaTypes.json) return "json";
  const formats = ctx.state.key.kind === "secret" ? allFormats : formatsForAll;
  const headers = { accept: accept.replace(ownParameters, "") };
  const type = new Negotiator({ headers }).mediaType(formats.map((format) => mediaTypes[format]));
  return formats.find((format) => mediaTypes[format] === type) ?? "json";
}

/** Parameters that callers write behind these types, and that hold for ours: `; charset=utf-8`, `; header=present`. */
const ownParameters = /;\s*(?:charset="?utf-8"?|header="?present"?)/gi;

const allFormats = Object.keys(mediaTypes) as Format[];
const formatsForAll = allFormats.filter((format) => format !== "csv");

/** The forms that have a path of their own: `/stations.geojson`. */
export const pathFormats = ["geojson", "ndjson", "csv"] as const satisfies Format[];

/** Sets the headers of a list in that form. NDJSON and CSV have no envelope: there its fields are headers. */
function setFormat(ctx: ApiContext, format: Format, rest: ListRest): void {
  if (format === "json") return;
  ctx.type = mediaTypes[format];
  if (format === "geojson") return;
  ctx.set({
    "X-Count": String(rest.count),
    "X-As-Of": formatTime(rest.asOfMs),
    "X-Stale-After-Hours": String(staleAfterHours(rest.lifetimeMs)),
    "X-Truncated": String(rest.truncated),
    ...(rest.nextCursor ? { "X-Next-Cursor": rest.nextCursor } : {}),
  });
}

/** The facts in a list's headers. */
interface ListHead {
  etag: string;
  rest: ListRest;
  format: Format;
}

/** Sends a list whose body is made, or 304. */
export async function sendList(
  ctx: ApiContext,
  { etag, rest, format }: ListHead,
  body: Representation,
): Promise<void> {
  if (isUnchanged(ctx, etag, rest.asOfMs)) return;
  await sendRepresentation(ctx, body);
  setFormat(ctx, format, rest);
}

/**
 * Sends a list in that form. Long lists, and all that are not JSON, are written in small pieces as fast as the caller
 * takes them.
 */
export function sendAs(
  ctx: ApiContext,
  format: Format,
  answer: Answer,
  rest: ListRest,
  hasWaited = false,
): void {
  const isWhole = format === "json" && !answer.isLong();
  if (!isWhole && !hasWaited) refuseCrowd();
  sendJson(ctx, isWhole ? presentList(answer.pieces(), rest) : inPieces(answer, rest, format, ctx));
  setFormat(ctx, format, rest);
}

/** Refuses work that would wait for too many others (decisions 7.50). */
export function refuseCrowd(): void {
  if (isCrowded())
    throw refused("upstream-unavailable", "Too many long lists are being written.", {
      retryAfterS: 5,
    });
}

/** A list of any length in that form. */
function inPieces(answer: Answer, rest: ListRest, format: Format, ctx?: ApiContext): Written {
  const form = forms[format];
  const marked = rest.bom && format === "csv";
  const head = marked ? Buffer.concat([byteOrderMark, form.head]) : form.head;
  const stations = answer.stations();
  const isGone = (): boolean => ctx?.req.socket.destroyed === true;
  const pieces = written({ ...form, head }, stations, rest, isGone);
  // The tail takes the place of the last comma, where there is a station.
  const length = head.length + Math.max(0, sizeOf(stations) - 1) + form.tail(rest).length;
  return format === "json" ? { pieces, length } : { pieces };
}

/** NDJSON and CSV in the OpenAPI document, and the headers that hold their envelope. */
export const lineForms: Record<string, Form> = {
  "application/x-ndjson": { schema: stationLine, example: stationExample },
  "text/csv": {
    schema: Type.String({
      pattern: `^${csvColumns.join()}\\n`,
      description: "A line of names, then one for each station; `conflict` is JSON",
    }),
    example: `${forms.csv.head}${writeCsv(Buffer.from(`${JSON.stringify(stationExample)},`))}`,
  },
};

/**
 * The form of a path in the OpenAPI document: JSON, or the one that its name says. That `Accept` gives the other forms on
 * the JSON paths as well is said in words, because generators make useless types of several (decisions 17.4).
 */
export const formsOf = (all: Record<string, Form>, fixed: Format = "json"): Record<string, Form> =>
  Object.fromEntries(Object.entries(all).filter(([type]) => type === mediaTypes[fixed]));

/** `listStationsAsCsv`; the short name without a form. */
export const operationIdOf = (name: string, fixed?: Format): string =>
  fixed === undefined ? name : `${name}As${fixed[0]!.toUpperCase()}${fixed.slice(1)}`;

/** The headers in place of an envelope, where the form has none. */
export const lineHeadersOf = (fixed?: Format): readonly HeaderName[] =>
  fixed === "ndjson" || fixed === "csv"
    ? ["X-Count", "X-As-Of", "X-Stale-After-Hours", "X-Truncated"]
    : [];

/** Raise it when the same content is written in another way, so that no caller keeps the old one. */
export const schemaVersion = 4;

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

/** A list of stations that was found for an answer, not yet written. */
export interface List extends ListHead {
  answer: Answer;
  /** It has waited for its turn to be found: it is not refused any more. */
  hasWaited?: boolean;
}

/** Fewer stations are too short to be worth packing. */
const fewest = 3;

/** When this part of a list is deflated already, gzip of the rest costs less than brotli of the whole. */
const readyPart = 0.4;

const budgetBytes = 8 << 20;
const largestBytes = 1 << 20;
/** Bytes of an entry beside its blocks. */
const overhead = 500;

/**
 * Packs lists of stations: gzip is joined from deflated blocks, or made anew. The packed stations of the last lists are
 * remembered without the envelope, whose `as_of` moves on each second. Their name is the ETag, which follows from
 * content and form, so nothing remembered is ever out of date.
 */
export function createListPacker() {
  const cache = new LRUCache<string, Packed>({
    maxSize: budgetBytes,
    maxEntrySize: largestBytes,
    sizeCalculation: ({ blocks }) => blocks.reduce((sum, { length }) => sum + length, overhead),
  });

  /** The list in pieces of one gzip member. */
  const gzip = async ({ etag, answer, rest, format }: List): Promise<Buffer[]> => {
    const { head, tail } = forms[format];
    let packed = cache.get(etag);
    if (packed === undefined) cache.set(etag, (packed = await packPieces(answer.pieces(), format)));
    return gzipMember(head, packed, tail(rest));
  };

  return {
    gzip,
    /** Packs the list once for many callers, if possible in a coding that is accepted. `plain` is for one who takes no other. */
    pack(list: List, accepted: string | undefined) {
      const takes = (coding: Coding): boolean => pickEncoding(accepted, [coding]) === coding;
      const coding = pickEncoding(accepted) === "gzip" ? "gzip" : "br";
      if (list.answer.isLong()) {
        refuseCrowd();
        const { pieces } = inPieces(list.answer, list.rest, list.format);
        return { coding, body: compressPieces(pieces, coding).then(Buffer.concat) } as const;
      }
      const isBrOnly = takes("br") && !takes("gzip");
      const ready = isBrOnly ? 0 : list.answer.deflatedShare();
      if (ready > (coding === "gzip" ? 0 : readyPart)) {
        const body = gzip(list).then((parts) => Buffer.concat(parts));
        return { coding: "gzip" as const, body, plain: () => plainSlices(list) };
      }
      // Brotli costs less to make than gzip.
      const plain = wholeList(list.answer, list.rest, list.format);
      // A caller that takes no coding gets `plain` itself, so it is not given back here.
      const body = compressQuickly(plain, coding).finally(() => takes(coding) && giveBack(plain));
      return { coding, body, plain: () => [plain] } as const;
    },
    /** Sends the list, or 304: as gzip, unless the caller prefers brotli or no coding. */
    send(ctx: ApiContext, list: List): Promise<void> | void {
      const { answer, rest, format } = list;
      if (isUnchanged(ctx, list.etag, rest.asOfMs)) return undefined;
      // CSV is rare and dear: a few stations are written in each turn.
      if (format === "csv" || answer.isLong())
        return sendAs(ctx, format, answer, rest, list.hasWaited);
      const isPacked = answer.count >= fewest;
      return sendList(ctx, list, {
        // Gzip wins between equals: most of it lies ready, brotli would have to be made for each answer.
        offers: isPacked ? ["gzip", "br"] : [],
        coded: (coding) => (isPacked && coding === "gzip" ? gzip(list) : null),
        plain: () => plainSlices(list),
      });
    },
  };
}

/** A list without coding: JSON in pieces of the blocks' bytes, other forms in one buffer. */
const plainSlices = ({ answer, rest, format }: List): Buffer[] =>
  format === "json" ? presentList(answer.pieces(), rest) : [wholeList(answer, rest, format)];
