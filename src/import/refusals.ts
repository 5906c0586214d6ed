import { createWriteStream } from "node:fs";
import { finished } from "node:stream/promises";

/** A row of a file that was left out: where it is, what it is about, and why. Texts may be "". */
export interface RefusedRow {
  /** "line 12" or "record 7". */
  place: string;
  /** The source's id. */
  id: string;
  field: string;
  value: string;
  reason: string;
}

/** Takes refused rows as they come. Only the first ones stay in memory. */
export interface RefusedRows {
  first: readonly RefusedRow[];
  add(row: RefusedRow): void;
  /** Resolves when the file is complete. Throws when it cannot be written. */
  end(): Promise<void>;
}

export const refusedShown = 200;
const valueMax = 200;
const columns = ["place", "id", "field", "value", "reason"] as const;

/** Collects refused rows, all of them as CSV in the file `path` if there is one. */
export function createRefusedRows(path: string | undefined): RefusedRows {
  const first: RefusedRow[] = [];
  const file = path === undefined ? null : createWriteStream(path);
  file?.write(`${columns.join(",")}\n`);
  // Its error is thrown by `end`.
  file?.on("error", () => undefined);
  return {
    first,
    add(row) {
      const short = { ...row, value: row.value.slice(0, valueMax) };
      if (first.length < refusedShown) first.push(short);
      file?.write(`${columns.map((name) => quoted(short[name])).join(",")}\n`);
    },
    async end() {
      if (file === null) return;
      if (file.errored !== null) throw file.errored;
      file.end();
      await finished(file);
    },
  };
}

/** A field of CSV. A value that a spreadsheet would run as a formula begins with an apostrophe. */
function quoted(text: string): string {
  const harmless = /^[=+\-@\t\r]/.test(text) && !/^-?[\d.]+$/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
