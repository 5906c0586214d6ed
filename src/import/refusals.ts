import { open, readFile, stat } from "node:fs/promises";
import { finished } from "node:stream/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { asFault, type FileFault, isFault, wrongFile } from "#src/import/read-text.ts";
import { parse } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";

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
  /** Adds a row; with `noting`, one that is not left out, but unclear or without effect, and stands for so many. */
  add(row: RefusedRow, noting?: number): void;
  /** The numbers of these by their reasons. */
  noted: Record<string, number>;
  /** Resolves when the file is complete. Throws when it cannot be written. */
  end(): Promise<void>;
}

export const refusedShown = 200;
const valueMax = 200;
const heldMax = 100_000;
const columns = ["place", "id", "field", "value", "reason"];

/**
 * Collects refused rows, all of them as CSV in the file `path` if there is one; those of `oneFile` are written at the end,
 * in its order, if they are not too many. Rejects when it cannot be opened.
 */
export async function createRefusedRows(path?: string, oneFile = false): Promise<RefusedRows> {
  const first: RefusedRow[] = [];
  const held: string[] = [];
  const file = path === undefined ? null : (await open(path, "w")).createWriteStream();
  file?.write(`${columns.join(",")}\n`);
  // Its error is thrown by `end`.
  file?.on("error", () => undefined);
  const noted: Record<string, number> = {};
  return {
    ...{ first, noted },
    add(row, noting = 0) {
      if (noting > 0) noted[row.reason] = (noted[row.reason] ?? 0) + noting;
      const short = { ...row, value: firstOf(row.value) };
      const isShown =
        first.length < refusedShown || !first.some((one) => one.reason === row.reason);
      if (isShown) first.push(short);
      // A spreadsheet must never take a stranger's text for a formula.
      const text = stringify([short], { columns, escape_formulas: true });
      if (oneFile && held.length < heldMax) held.push(text);
      else file?.write(text);
    },
    async end() {
      if (file === null) return;
      for (const text of held.splice(0).sort((a, b) => lineOf(a) - lineOf(b))) file.write(text);
      if (file.errored !== null) throw file.errored;
      if (file.closed) return;
      file.end();
      await finished(file);
    },
  };
}

/** The number of the line or record at the beginning of a row. */
const lineOf = (text: string): number => Number(/^\w+ (\d+)/.exec(text)?.[1] ?? 0);

/** The first row of a reason in words, `, such as line 5, id 4: p95 "N/D"`; "" if it has none. */
export function example(rows: readonly RefusedRow[], reason: string): string {
  const { place, id, field, value } = rows.find((row) => row.reason === reason) ?? {};
  const where = [place, id && `id ${id}`].filter(Boolean).join(", ");
  return where === "" ? "" : `, such as ${where}${value && `: ${field} "${value}"`}`;
}
/** The beginning of a text; half a letter would be another one. */
const firstOf = (value: string): string =>
  value.length <= valueMax ? value : [...value.slice(0, 2 * valueMax)].slice(0, valueMax).join("");

/** Throws a wrong-file fault if the file `path` is one of `inputs`, which it would empty. */
async function refuseInput(path: string, inputs: readonly string[]): Promise<void> {
  const [own, ...others] = await Promise.all(
    [path, ...inputs].map((one) => stat(one).catch(() => null)),
  );
  if (own && others.some((other) => other?.ino === own.ino && other.dev === own.dev))
    throw wrongFile(
      "it is imported, and the rows that are left out would replace it",
      "Name another file.",
    );
}

/**
 * Runs an import of `inputs` that names its refused rows. Its result stays when their file cannot be completed, which
 * `refusals_fault` then says: what was saved is saved.
 */
export async function withRefusedRows<Summary extends object>(
  path: string | undefined,
  inputs: readonly string[],
  work: (rows: RefusedRows) => Promise<Summary | FileFault>,
): Promise<(Summary & RefusalsFault) | FileFault> {
  const rows = await asFault(path ?? "", async () => {
    if (path !== undefined) await refuseInput(path, inputs);
    return createRefusedRows(path, inputs.length === 1);
  });
  if (isFault(rows)) return rows;
  try {
    const done = await work(rows);
    const fault = await rows.end().then(
      () => null,
      (error: unknown) => (error as Error).message,
    );
    return fault === null || isFault(done) ? done : { ...done, refusals_fault: fault };
  } finally {
    await rows.end().catch(() => undefined);
  }
}

export interface RefusalsFault {
  /** Why not all refused rows are in their file; absent if they are. */
  refusals_fault?: string;
}

/** The first rows of such a file. */
export const firstRefused = (csv: string): RefusedRow[] =>
  parse<RefusedRow>(csv, { columns: true, to: refusedShown });

/** The rows that were left out, gzipped; null without any. More than anybody reads are cut off. */
export async function packRefused(path: string, mostBytes = refusedBytes): Promise<Buffer | null> {
  const csv = await readFile(path).catch(() => null);
  const whole = csv === null ? null : wholeRows(csv.subarray(0, mostBytes));
  if (whole === null || whole.indexOf(lineFeed) === whole.length - 1) return null;
  return promisify(gzip)(whole);
}

/** The rows that are there to their end. A line feed within quotes ends none. */
function wholeRows(csv: Buffer): Buffer {
  let [end, isQuoted] = [0, false];
  for (let at = 0; at < csv.length; at += 1)
    if (csv[at] === quote) isQuoted = !isQuoted;
    else if (csv[at] === lineFeed && !isQuoted) end = at + 1;
  return csv.subarray(0, end);
}

const [quote, lineFeed] = [0x22, 0x0a];
const refusedBytes = 20 * 1024 * 1024;
