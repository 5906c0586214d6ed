import { hash } from "node:crypto";
import type { Stations } from "#snapshots/model/block.ts";
import { csvColumns, writeCsv } from "#snapshots/model/csv.ts";
import { writeFeatures, writeLines } from "#snapshots/model/features.ts";
import { borrowJoined, giveBack, nothing } from "#snapshots/model/long-buffers.ts";
import type { Answer } from "#snapshots/model/queries.ts";
import { copyInTurns, sizeOf, slice } from "#snapshots/model/area-selection.ts";
import { alone, ownTurn } from "#src/infrastructure/turns.ts";
import { formatTime, staleAfterHours } from "#src/domain/time.ts";

/** A form in which a list of stations is given out (decisions 7.16). */
export type Format = "json" | "geojson" | "ndjson" | "csv";

/** The parts of a list in a form: head, stations with separators between them, tail. */
export interface Form {
  head: Buffer;
  /** The byte between two stations. */
  separator: Buffer;
  /**
   * Writes stations of JSON with commas between them, `{…},{…}`, in this form. A comma at the end becomes a
   * separator. `head` and `tail` stand around them. `of`: where the stations stand, each with its comma.
   */
  write(stations: Buffer, head?: Buffer, tail?: Buffer, of?: Stations): Buffer;
  tail(rest: ListRest): Buffer;
}

export const listHead = Buffer.from('{"stations":[');

export const forms: Record<Format, Form> = {
  json: {
    head: listHead,
    separator: Buffer.from(","),
    write: (stations) => stations,
    tail: listTail,
  },
  /** A GeoJSON FeatureCollection (RFC 7946) with the rest of the list envelope beside it. */
  geojson: {
    head: Buffer.from('{"type":"FeatureCollection","features":['),
    separator: Buffer.from(","),
    write: writeFeatures,
    tail: listTail,
  },
  /** A line of JSON for each station, each ended by a line feed. */
  ndjson: {
    head: Buffer.alloc(0),
    separator: Buffer.from("\n"),
    write: writeLines,
    tail: ({ count }) => Buffer.from(count === 0 ? "" : "\n"),
  },
  /** A line for each station below a line of names. */
  csv: {
    head: Buffer.from(`${csvColumns.join()}\n`),
    separator: Buffer.from("\n"),
    write: writeCsv,
    tail: ({ count }) => Buffer.from(count === 0 ? "" : "\n"),
  },
};

/** A whole list in one buffer, which may be given back (see long-buffers.ts). */
export function wholeList(answer: Answer, rest: ListRest, format: Format): Buffer {
  const { head, write, tail } = forms[format];
  const pieces = answer.pieces().map(({ bytes }) => bytes);
  const isJson = format === "json";
  const stations = borrowJoined(isJson ? [head, ...pieces, tail(rest)] : pieces);
  const whole = isJson ? stations : write(stations, head, tail(rest));
  for (const part of [stations, ...pieces]) if (part !== whole) giveBack(part);
  return whole;
}

/**
 * `perCopy`: stations copied together. A page of a large country lies in all its blocks: fewer would inflate each more
 * often. `perPiece`: stations of one piece.
 */
const usualSizes = { perCopy: 10_000, perPiece: 256 };

/**
 * Writes a list of any length piece by piece, in short turns, so that a whole country does not delay other requests. A
 * piece holds until the next one is asked for. Ends early once `isGone`. The stations still to come say which piece is
 * the last, whatever the sizes (decisions 7.51).
 */
export async function* written(
  { head, separator, write, tail }: Form,
  stations: Stations,
  rest: ListRest,
  isGone: () => boolean = () => false,
  { perCopy, perPiece } = usualSizes,
): AsyncGenerator<Buffer> {
  yield head;
  let left = stations.slots.length;
  for (const some of parts(stations, perCopy)) {
    const copy = await alone(async () => (isGone() ? null : copyInTurns(some)));
    if (copy === null) return;
    let end = 0;
    for (const few of parts(some, perPiece)) {
      await ownTurn();
      const piece = write(copy.subarray(end, (end += sizeOf(few))), nothing, nothing, few);
      left -= few.slots.length;
      yield left === 0 ? piece.subarray(0, -separator.length) : piece;
      if (piece.buffer !== copy.buffer) giveBack(piece);
    }
    giveBack(copy);
  }
  yield tail(rest);
}

/** The stations in parts of at most `size`, in their order. */
function* parts(stations: Stations, size: number): Generator<Stations> {
  for (let from = 0; from < stations.slots.length; from += size)
    yield slice(stations, from, from + size);
}

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
interface Cursor {
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
