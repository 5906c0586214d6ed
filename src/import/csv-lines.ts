import { pipeline, Readable } from "node:stream";
import { parse } from "csv-parse";
import type { FileSpec } from "#src/import/records.ts";
import { readText, type TextSpec } from "#src/import/text-file.ts";
import { advice, wrongFile, type ReadProgress } from "#src/import/read-text.ts";

/** A line of a table, and its number in the file, from 1: the last one if quotes contain line feeds. */
export interface Numbered<Fields> {
  line: number;
  fields: Fields;
}

interface Layout {
  delimiter: string;
  quote: boolean;
  /** Lines before the table. */
  skip?: number;
  /** True if lines may have different numbers of fields. */
  anyWidth?: boolean;
  text?: TextSpec;
}

/**
 * The lines of a text table as fields. Throws a wrong-file fault for a table with an open quote or with lines of
 * different numbers of fields: it may be cut off.
 */
export async function* csvLines(
  path: string,
  { delimiter, quote, skip = 0, anyWidth = false, text }: Layout,
  progress: ReadProgress,
): AsyncGenerator<Numbered<string[]>> {
  const table = parse({
    delimiter,
    quote: quote ? '"' : false,
    relax_quotes: !quote,
    relax_column_count: true,
    from_line: skip + 1,
    max_record_size: 1_000_000,
  });
  // The callback form, in which an error of the text destroys the table, and the loop below throws it.
  pipeline(Readable.from(readText(path, progress, text)), table, () => undefined);
  // Counted here: with line numbers the parser takes five times as long.
  let line = skip;
  let width = 0;
  try {
    for await (const one of table) {
      const fields = one as string[];
      line += 1;
      if (quote) for (const field of fields) line += lineFeedsOf(field);
      if (fields.length === 1 && fields[0] === "") continue;
      width ||= fields.length;
      if (fields.length !== width && !anyWidth) throw wrongWidth(fields.length, width, line);
      yield { line, fields };
    }
  } catch (error) {
    throw tableFault(error as Partial<CsvError>) ?? error;
  }
}

const lineFeedsOf = (field: string): number =>
  field.includes("\n") ? field.split("\n").length - 1 : 0;

const wrongWidth = (has: number, width: number, line: number): Error =>
  wrongFile(
    `it has ${has === 1 ? "1 field" : `${has} fields`}, the lines before it ${width}`,
    advice.cut,
    line,
  );

interface CsvError {
  code: string;
  lines: number;
}

/** A fault of csv-parse in our words; null for any other error. */
function tableFault({ code = "", lines }: Partial<CsvError>) {
  const words: Readonly<Record<string, string>> = {
    CSV_QUOTE_NOT_CLOSED: 'the file ends inside of quotes: a " is missing here or before',
    CSV_INVALID_CLOSING_QUOTE: 'after a closing " something else than the next field follows',
    INVALID_OPENING_QUOTE: 'a " stands in the middle of a field',
    CSV_MAX_RECORD_SIZE: 'it is too long: a " may be missing before',
  };
  const what = words[code];
  return what === undefined ? null : wrongFile(what, advice.cut, lines ?? null);
}

const headMax = 64_000;

/** The separator of a table, and how many lines stand before it. The heading tells, or a first line `sep=;`. */
export async function tableHead(
  path: string,
  spec?: FileSpec,
): Promise<{ delimiter: string; skip: number }> {
  const { separator, skip_lines: lines = 0 } = spec ?? {};
  let head = "";
  for await (const piece of readText(path, () => undefined, spec)) {
    head += piece;
    if (head.length > headMax) break;
  }
  if (/^\s*</.test(head) || /^\s*[{[]\s*["{[\]}]/.test(head))
    throw wrongFile(`this is ${/^\s*</.test(head) ? "XML" : "JSON"}, not a table`, advice.kind);
  const [, named] = /^sep=(.)\r?\n/.exec(head) ?? [];
  const skip = lines + (named === undefined ? 0 : 1);
  const heading = head.split("\n", skip + 1)[skip] ?? "";
  const width = (delimiter: string): number => heading.split(delimiter).length;
  const widest = [",", ";", "\t", "|"].reduce((best, one) =>
    width(one) > width(best) ? one : best,
  );
  return { delimiter: separator ?? named ?? widest, skip };
}

/** True if the file's text ends with a line feed. A last line without one may be cut off. */
export async function endsWithLine(path: string, spec?: TextSpec): Promise<boolean> {
  let last = "";
  for await (const piece of readText(path, () => undefined, spec)) last = piece;
  return last.endsWith("\n");
}
