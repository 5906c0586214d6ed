import { open } from "node:fs/promises";
import { pipeline, Readable } from "node:stream";
import { parse } from "csv-parse";
import { readText, wrongFile, type ReadProgress } from "#src/import/read-text.ts";

/**
 * The lines of a text table as fields. Throws a wrong-file fault for a table with an open quote or with lines of
 * different numbers of fields: it may be cut off.
 */
export async function* csvLines(
  path: string,
  { delimiter, quote }: { delimiter: string; quote: boolean },
  progress: ReadProgress,
): AsyncGenerator<string[]> {
  const table = parse({
    delimiter,
    quote: quote ? '"' : false,
    relax_quotes: !quote,
    skip_empty_lines: true,
    max_record_size: 1_000_000,
  });
  // The callback form: an error of the text destroys the table, and the loop below throws it.
  pipeline(Readable.from(readText(path, progress)), table, () => undefined);
  try {
    for await (const line of table) yield line as string[];
  } catch (error) {
    const code = String((error as { code?: unknown }).code);
    if (code.startsWith("CSV_"))
      throw wrongFile(`is not such a table, or is cut off (${(error as Error).message})`);
    throw error;
  }
}

/**
 * The lines of a table below its heading, as records by column name. Fields are separated as in the heading, by commas,
 * semicolons or tabs, because spreadsheets follow the custom of their country. Throws a wrong-file fault when one of
 * the `required` columns is missing.
 */
export async function* csvRecords<Column extends string>(
  path: string,
  columns: { required: readonly Column[]; optional?: readonly Column[] },
  progress: ReadProgress,
): AsyncGenerator<Record<Column, string>> {
  const { required, optional = [] } = columns;
  let indexes: [Column, number][] | null = null;
  const delimiter = await headingDelimiter(path);
  for await (const line of csvLines(path, { delimiter, quote: true }, progress)) {
    if (indexes === null) {
      const heading = line.map((name) => name.trim().toLowerCase());
      const missing = required.filter((name) => !heading.includes(name));
      if (missing.length > 0) throw wrongFile(`has no column ${missing.join(", ")}`);
      indexes = [...required, ...optional].map((name) => [name, heading.indexOf(name)]);
      continue;
    }
    const fields = indexes.map(([name, index]) => [name, (line[index] ?? "").trim()]);
    yield Object.fromEntries(fields) as Record<Column, string>;
  }
}

async function headingDelimiter(path: string): Promise<string> {
  for await (const piece of readText(path, () => undefined)) {
    const [heading = ""] = piece.split("\n", 1);
    const named = (delimiter: string): number => heading.split(delimiter).length;
    return [",", ";", "\t"].reduce((best, one) => (named(one) > named(best) ? one : best));
  }
  return ",";
}

/** Whether the file ends with a line feed. A last line without one may be cut off. */
export async function endsWithLine(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const { buffer } = await file.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1));
    return buffer[0] === 0x0a;
  } finally {
    await file.close();
  }
}
