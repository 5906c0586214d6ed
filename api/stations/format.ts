import { Readable } from "node:stream";
import { presentList } from "#api/stations/presenters.ts";
import type { Reply } from "#api/http/route.ts";
import type { ListRest } from "#snapshots/model/envelope.ts";
import { featureCollection, lines } from "#snapshots/model/forms.ts";
import type { Answer } from "#snapshots/model/queries.ts";
import { formatTime, staleAfterHours } from "#src/domain/time.ts";

/** The forms in which a list of stations is given out (decisions.md 7), the preferred one first. */
const mediaTypes = {
  json: "application/json",
  geojson: "application/geo+json",
  ndjson: "application/x-ndjson",
} as const;
export type Format = keyof typeof mediaTypes;

interface Fit {
  format: Format;
  q: number;
  /** 2 for the type itself, 1 for `application/*`, 0 for anything. */
  precision: number;
  /** Where in the header it stands. */
  index: number;
}

/**
 * The form that an `Accept` header asks for (RFC 9110 12.5.1): the highest q-value wins, then what is named more
 * precisely, then what is named first. JSON when nothing fits.
 */
export function pickFormat(accept: string | undefined): Format {
  if (accept === undefined || accept === "*/*") return "json";
  const ranges = accept.toLowerCase().split(",").map(rangeOf);
  let best: Fit | null = null;
  for (const format of Object.keys(mediaTypes) as Format[]) {
    const fit = fitOf(format, ranges);
    if (fit !== null && fit.q > 0 && (best === null || better(fit, best))) best = fit;
  }
  return best?.format ?? "json";
}

const better = (a: Fit, b: Fit): boolean =>
  a.q !== b.q
    ? a.q > b.q
    : a.precision !== b.precision
      ? a.precision > b.precision
      : a.index < b.index;

interface Range {
  type: string;
  q: number;
}

function rangeOf(item: string): Range {
  const [type = "", ...parameters] = item.split(";").map((part) => part.trim());
  const given = parameters.find((parameter) => /^q\s*=/.test(parameter));
  const q =
    given === undefined ? 1 : Number(given.slice(given.indexOf("=") + 1).trim() || Number.NaN);
  return { type, q: q >= 0 && q <= 1 ? q : 0 };
}

/** The most precise range that covers the form decides about it. */
function fitOf(format: Format, ranges: readonly Range[]): Fit | null {
  const names = ["*/*", "application/*", mediaTypes[format]];
  let found: Fit | null = null;
  ranges.forEach(({ type, q }, index) => {
    const precision = names.indexOf(type);
    if (precision >= 0 && (found === null || precision > found.precision))
      found = { format, q, precision, index };
  });
  return found;
}

/**
 * A list of stations in that form; what is not JSON is written in small pieces as fast as the caller takes them.
 * NDJSON has no envelope: there its fields are headers.
 */
export function presentAs(format: Format, answer: Answer, rest: ListRest): Reply {
  if (format === "json") return presentList(answer.pieces(), rest);
  const type = { "Content-Type": mediaTypes[format] };
  if (format === "geojson")
    return { headers: type, body: streamOf(featureCollection(answer.sources(), rest)) };
  const headers = {
    ...type,
    "X-Count": String(rest.count),
    "X-As-Of": formatTime(rest.asOfMs),
    "X-Stale-After-Hours": String(staleAfterHours(rest.lifetimeMs)),
    "X-Truncated": String(rest.truncated),
    ...(rest.nextCursor ? { "X-Next-Cursor": rest.nextCursor } : {}),
  };
  return { headers, body: streamOf(lines(answer.sources())) };
}

const streamOf = (pieces: AsyncGenerator<Buffer>): Readable =>
  Readable.from(pieces, { objectMode: false });
