import { csvLines, tableHead } from "#src/import/csv-lines.ts";
import type { FileRecord, FileSpec } from "#src/import/records.ts";
import { advice, type ReadProgress, wrongFile } from "#src/import/read-text.ts";

/** A line of a table by its columns. */
export interface TableRow extends FileRecord {
  line: number;
  value: Record<string, string>;
}

/**
 * The lines of a CSV below its heading, by the heading's names as they are written; those of `required` and `optional`
 * are found in any case. Throws a wrong-file fault for a table without a required column, with an open quote, with lines
 * of different numbers of fields, or with its heading a second time.
 */
export async function* csvTable(
  path: string,
  spec: FileSpec | undefined,
  progress: ReadProgress,
  required: readonly string[] = [],
  optional: readonly string[] = [],
): AsyncGenerator<TableRow> {
  const { quotes: quote = true, spill } = spec ?? {};
  const { skip, delimiter } = await tableHead(path, spec);
  const layout = {
    delimiter,
    quote,
    skip,
    anyWidth: spill !== undefined,
    ...(spec === undefined ? {} : { text: spec }),
  };
  let names: string[] | null = spec?.columns ?? null;
  let heading = names;
  let [refused, read, shortLine] = [0, 0, 0];
  for await (const { line, fields } of csvLines(path, layout, progress)) {
    if (names === null) {
      if (fields.length > columnsMost)
        throw wrongFile(`it has ${fields.length} columns`, advice.kind, line);
      heading = fields.map((name) => name.trim());
      const wanted = new Map([...required, ...optional].map((name) => [name.toLowerCase(), name]));
      names = distinct(heading.map((name) => wanted.get(name.toLowerCase()) ?? name));
      const missing = required.filter((name) => !names!.includes(name));
      if (missing.length > 0) throw missingColumns(missing, heading, required, line);
      continue;
    }
    if (fields.length > 1 && fields.every((field, n) => field.trim() === heading?.[n]))
      throw wrongFile(
        "it is the heading again",
        "Two files may stand in one: take each by itself.",
        line,
      );
    read += 1;
    shortLine = fields.length < names.length ? line : 0;
    const place = `line ${line}`;
    const value =
      fields.length === names.length
        ? byName(names, fields)
        : mended(names, fields, { ...spec, separator: delimiter });
    if (value !== null) yield { place, line, value };
    else {
      refused += 1;
      yield { place, line, value: byName(names, fields), refused: "wrong-fields" };
    }
  }
  // A few lines can be spoilt by their writer; many show that the table is read wrongly.
  if (refused > 10 && refused > read / 20)
    throw wrongFile(
      `${refused} of its ${read} lines have another number of fields than the heading`,
      "Is it the right separator? If it is, the file may be cut or joined: export or download it again.",
    );
  if (shortLine > 0) throw wrongFile("it ends in the middle of a line", advice.cut, shortLine);
  if (read === 0) throw wrongFile("it has no line below its heading", advice.cut);
}

/** Registers have up to 300. */
const columnsMost = 5000;

const missingColumns = (
  missing: readonly string[],
  heading: readonly string[],
  required: readonly string[],
  line: number,
): Error =>
  wrongFile(
    `the heading has no column ${missing.join(", ")}; it names ${heading.join(", ").slice(0, 120)}`,
    `The first line of such a file names the columns ${required.join(", ")}, in any order.`,
    line,
  );

/** The names of columns; a second column of one name gets a number, so that neither is lost. */
function distinct(names: readonly string[]): string[] {
  const counts = new Map<string, number>();
  return names.map((name) => {
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return count === 1 ? name : `${name} (${count})`;
  });
}

const byName = (names: readonly string[], fields: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name, n) => [name, (fields[n] ?? "").trim()]));

/**
 * A line with too many fields, because one value holds separators: each column that may hold them is tried, and must
 * leave the others in their shapes. A column that then still has two possible values is left empty. Null if nothing fits.
 */
function mended(
  names: readonly string[],
  fields: readonly string[],
  { spill = [], shapes = {}, separator = "" }: Pick<FileSpec, "spill" | "shapes" | "separator">,
): Record<string, string> | null {
  const surplus = fields.length - names.length;
  if (surplus <= 0) return null;
  const shaped = Object.entries(shapes).map(
    ([name, shape]) => [name, new RegExp(shape, "u")] as const,
  );
  const [first, ...others] = spill
    .map((column) => names.indexOf(column))
    .filter((at) => at !== -1)
    .map((at) => {
      const whole = fields.slice(at, at + surplus + 1).join(separator);
      return byName(names, [...fields.slice(0, at), whole, ...fields.slice(at + surplus + 1)]);
    })
    .filter((value) => shaped.every(([name, shape]) => shape.test(value[name] ?? "")));
  if (first === undefined) return null;
  const agreed = (name: string, value: string): boolean =>
    others.every((other) => other[name] === value);
  return Object.fromEntries(
    Object.entries(first).map(([name, value]) => [name, agreed(name, value) ? value : ""]),
  );
}
