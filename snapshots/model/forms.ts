import { setImmediate as nextTurn } from "node:timers/promises";
import { listHead, listTail, type ListRest, nothing } from "#snapshots/model/envelope.ts";
import type { Stations } from "#snapshots/model/block.ts";
import { csvColumns, writeCsv } from "#snapshots/model/csv.ts";
import { writeFeatures, writeLines } from "#snapshots/model/features.ts";
import { giveBack } from "#snapshots/model/long-buffers.ts";
import type { Answer } from "#snapshots/model/queries.ts";
import { copyInOrder, slice } from "#snapshots/model/area-selection.ts";

/** A form in which a list of stations is given out (decisions 7.16). */
export type Format = "json" | "geojson" | "ndjson" | "csv";

/** The parts of a list in a form: head, stations with separators between them, tail. */
export interface Form {
  head: Buffer;
  /** The byte between two stations. */
  separator: Buffer;
  /**
   * Writes stations of JSON with commas between them, `{…},{…}`, in this form. A comma at the end becomes a
   * separator. `head` and `tail` stand around them.
   */
  write(stations: Buffer, head?: Buffer, tail?: Buffer): Buffer;
  tail(rest: ListRest): Buffer;
}

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
  if (format === "json") return answer.joined(head, tail(rest));
  const stations = answer.joined(nothing, nothing);
  const whole = write(stations, head, tail(rest));
  giveBack(stations);
  return whole;
}

/** Stations written per turn of the event loop. */
const perTurn = 256;

/** Writes a list in pieces, in small turns, so that a whole country does not delay other requests. */
export async function* written(
  { head, separator, write, tail }: Form,
  stations: Stations,
  rest: ListRest,
): AsyncGenerator<Buffer> {
  yield head;
  const count = stations.slots.length;
  for (let from = 0; from < count; from += perTurn) {
    if (from > 0) await nextTurn();
    const some = write(copyInOrder(slice(stations, from, from + perTurn)));
    const isLast = from + perTurn >= count;
    yield isLast ? some.subarray(0, -separator.length) : some;
  }
  yield tail(rest);
}
