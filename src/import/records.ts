import { Type, type Static } from "typebox";
import { csvTable } from "#src/import/csv-table.ts";
import { fileBytes } from "#src/import/file-bytes.ts";
import { jsonItems, jsonSequence } from "#src/import/json-items.ts";
import { osmPbf, osmXml, overpassJson } from "#src/import/osm-sources.ts";
import { advice, type ReadProgress, wrongFile } from "#src/import/read-text.ts";
import { readText } from "#src/import/text-file.ts";
import { xmlRecords } from "#src/import/xml-elements.ts";

export const fileFormats = [
  ...(["csv", "json", "geojson", "geojsonseq", "ndjson", "osm-xml", "osm-pbf", "xml"] as const),
] as const;

const text = (maxLength: number) => Type.Optional(Type.String({ minLength: 1, maxLength }));

/** How a file is to be read: its format, and what the format leaves open (docs/sources.json). */
export const fileSpec = Type.Object(
  {
    format: Type.Enum(fileFormats),
    encoding: text(40),
    separator: text(1),
    quotes: Type.Optional(Type.Boolean()),
    skip_lines: Type.Optional(Type.Integer({ minimum: 0, maximum: 100 })),
    columns: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 80 }), { minItems: 1 }),
    ),
    spill: Type.Optional(Type.Array(Type.String(), { minItems: 1 })),
    shapes: Type.Optional(Type.Record(Type.String(), Type.String())),
    member: text(200),
    records: text(200),
  },
  { additionalProperties: false },
);
export type FileSpec = Static<typeof fileSpec> & {
  /** True if a list that says itself that it is a part is taken all the same. */
  mayBeCut?: boolean;
};

/** One record of a file, as the file writes it. */
export interface FileRecord {
  /** Where it stands: "line 12" or "record 7". */
  place: string;
  value: Record<string, unknown>;
  /** The reason why this record alone cannot be read. */
  refused?: string;
}

/**
 * The records of a file in lists, piece by piece, without holding the file. Throws a wrong-file fault for a file that is
 * broken, cut off, or of another kind or encoding.
 */
export function readRecords(
  path: string,
  spec: FileSpec,
  progress: ReadProgress,
  required: readonly string[] = [],
): AsyncGenerator<FileRecord[]> {
  const { format, records = "." } = spec;
  if (format === "csv") return csvRecords(path, spec, progress, required);
  if (format === "geojson") return jsonItems(path, "features", spec, progress);
  if (format === "geojsonseq" || format === "ndjson") return jsonSequence(path, spec, progress);
  if (format === "osm-pbf") return osmPbf(path, progress);
  if (format === "osm-xml") return osmXml(path, spec, progress);
  if (format === "xml") return xmlRecords(path, spec, progress);
  return records === "elements"
    ? overpassJson(path, spec, progress)
    : jsonItems(path, records, spec, progress);
}

async function* csvRecords(...table: Parameters<typeof csvTable>): AsyncGenerator<FileRecord[]> {
  for await (const record of csvTable(...table)) yield [record];
}

const beginnings: readonly [RegExp, FileSpec][] = [
  [/"FeatureCollection"/, { format: "geojson" }],
  [/"elements"\s*:/, { format: "json", records: "elements" }],
  [/^\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)?<osm[\s>]/s, { format: "osm-xml" }],
  // A record separator may stand before it.
  [/^[^[{]?\s*\{\s*"type"\s*:\s*"Feature"/, { format: "geojsonseq" }],
];
const headMax = 1_000_000;

/** The format of OSM objects in a file, recognised by its beginning. Throws a wrong-file fault for none of them. */
export async function guessSpec(path: string): Promise<FileSpec> {
  for await (const piece of fileBytes(path, () => undefined)) {
    if (piece.subarray(0, 64).includes("OSMHeader")) return { format: "osm-pbf" };
    break;
  }
  let head = "";
  for await (const piece of readText(path, () => undefined)) {
    head += piece;
    const known = beginnings.find(([beginning]) => beginning.test(head));
    if (known !== undefined) return known[1];
    if (head.length > headMax) break;
  }
  throw wrongFile("this is no format of OpenStreetMap's objects", advice.kind);
}
