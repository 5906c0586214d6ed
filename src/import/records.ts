import { Type, type Static } from "typebox";
import { csvTable } from "#src/import/csv-table.ts";
import { jsonItems, jsonSequence } from "#src/import/json-items.ts";
import { advice, type ReadProgress, readText, wrongFile } from "#src/import/read-text.ts";

export const fileFormats = [
  "csv",
  "json",
  "geojson",
  "geojsonseq",
  "osm-xml",
  "osm-pbf",
  "xml",
] as const;
export type FileFormat = (typeof fileFormats)[number];

/** How a file is to be read: its format, and what the format leaves open. */
export const fileSpec = Type.Object(
  {
    format: Type.Enum(fileFormats),
    /** For example `windows-1251`. Without it: UTF-8, UTF-16 with a byte order mark, or what XML declares. */
    encoding: Type.Optional(Type.String({ minLength: 1, maxLength: 40 })),
    /** Of a CSV. Without it: comma, semicolon, tab or bar, whichever the heading has. */
    separator: Type.Optional(Type.String({ minLength: 1, maxLength: 1 })),
    /** False if a `"` of a CSV is an ordinary character. */
    quotes: Type.Optional(Type.Boolean()),
    /** Lines of a CSV before its heading. */
    skip_lines: Type.Optional(Type.Integer({ minimum: 0, maximum: 100 })),
    /** Names of the columns of a CSV without a heading. */
    columns: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 80 }), { minItems: 1 }),
    ),
    /** Columns of a CSV without quotes whose value may hold a separator. */
    spill: Type.Optional(Type.Array(Type.String(), { minItems: 1 })),
    /** Regular expressions that the values of such a CSV's other columns match, to tell where a value has spilt. */
    shapes: Type.Optional(Type.Record(Type.String(), Type.String())),
    /** The file inside a zip that holds several. */
    member: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    /** Path of the records in JSON or XML, by dots; "." is a list at the top. */
    records: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  },
  { additionalProperties: false },
);
export type FileSpec = Static<typeof fileSpec>;

/** One record of a file, as the file writes it. */
export interface FileRecord {
  /** Where it stands: "line 12" or "record 7". */
  place: string;
  value: Record<string, unknown>;
  /** The reason why this record alone cannot be read. */
  refused?: string;
}

/**
 * The records of a file, one after the other, without holding the file. Throws a wrong-file fault for a file that is
 * broken, cut off, or of another kind or encoding.
 */
export function readRecords(
  path: string,
  spec: FileSpec,
  progress: ReadProgress,
): AsyncGenerator<FileRecord> {
  if (spec.format === "csv") return csvTable(path, spec, progress);
  if (spec.format === "json") return jsonItems(path, spec.records ?? ".", progress);
  if (spec.format === "geojson") return jsonItems(path, "features", progress);
  if (spec.format === "geojsonseq") return jsonSequence(path, progress);
  throw new Error(`not read yet: ${spec.format}`);
}

/** How to read a file, recognised by its beginning. Throws a wrong-file fault for an unknown format. */
export async function guessSpec(path: string): Promise<FileSpec> {
  let head = "";
  for await (const piece of readText(path, () => undefined)) {
    head += piece;
    if (/"FeatureCollection"/.test(head)) return { format: "geojson" };
    if (/"elements"\s*:/.test(head)) return { format: "json", records: "elements" };
    if (head.length > 1_000_000) break;
  }
  throw wrongFile("this is neither Overpass JSON nor GeoJSON", advice.kind);
}
