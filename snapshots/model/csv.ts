import { stringify } from "csv-stringify/sync";
import type { FuelBlock } from "#src/domain/state.ts";
import { nothing } from "#snapshots/model/long-buffers.ts";
import type { ServedFacts } from "#src/feed/feed.ts";

/** The columns of a list of stations as CSV: those of a station, then those of its `fuel`. */
export const csvColumns: readonly string[] = [
  "id lat lon brand name addr status fuels_now fuels_no prices queue limit_l no_cash fuel_cards_only",
  "confirmations real_count seeded updated pending_status pending_count resolution_reason conflict",
  // Last, so that a reader that counts columns finds the others where they were.
  "grades_sold opening_hours chance closed",
].flatMap((names) => names.split(" "));

/**
 * Stations, `{…},{…}` with or without a comma at the end, as lines of CSV (RFC 4180, but ended by line feeds), in the
 * same way with or without a line feed at the end, between two texts. `conflict` and `closed` are JSON. A text that a spreadsheet
 * would take for a formula begins with an apostrophe (decisions 21.32).
 */
export function writeCsv(stations: Buffer, head = nothing, tail = nothing): Buffer {
  const text = stations.toString();
  const isEnded = text.endsWith(",");
  const list = JSON.parse(`[${isEnded ? text.slice(0, -1) : text}]`) as Station[];
  const lines = list.map(({ fuel: { conflict, ...fuel }, closed, ...station }) => {
    for (const name of ["brand", "name", "addr", "opening_hours"] as const)
      if (formula.test(station[name] ?? "")) station[name] = `'${station[name]}`;
    const written = [conflict ?? undefined, closed].map((one) => one && JSON.stringify(one));
    const shown = { ...station, ...fuel, conflict: written[0], closed: written[1] };
    return csvColumns.map((name) => (shown as Record<string, unknown>)[name]);
  });
  const csv = stringify(lines, { cast: { boolean: String } });
  return Buffer.concat([head, Buffer.from(isEnded ? csv : csv.slice(0, -1)), tail]);
}

const formula = /^[=+\-@\t\r]/;

/** The sign by which spreadsheets know that a file is UTF-8. */
export const byteOrderMark = Buffer.from("\ufeff");

type Station = ServedFacts & { fuel: FuelBlock };
