import { deflateRawSync, gzipSync } from "node:zlib";
import iconv from "iconv-lite";
import type { FileSpec } from "#src/import/records.ts";
import { osmExtract } from "#test/harness/osm-extract.ts";
import { zipOf } from "#test/harness/zip.ts";

/** A file that no import may take: its content, how it is read, and what its fault says. */
export type BrokenFile = [
  what: string,
  spec: FileSpec,
  content: () => string | Buffer,
  fault: RegExp,
];

const csv: FileSpec = { format: "csv" };
const cyrillic: FileSpec = { ...csv, encoding: "windows-1251" };
const overpass: FileSpec = { format: "json", records: "elements" };
const geojson: FileSpec = { format: "geojson" };
const sequence: FileSpec = { format: "geojsonseq" };
const osm: FileSpec = { format: "osm-xml" };
const xml: FileSpec = { format: "xml", records: "list.shop" };
const pbf: FileSpec = { format: "osm-pbf" };

const table = "id,name,lat,lon\n1,A,41.9,12.5\n2,B,41.8,12.4\n";
const node = (id: number) => ({
  type: "node",
  id,
  lat: 41.9,
  lon: 12.5,
  tags: { amenity: "fuel" },
});
const elements = JSON.stringify({ elements: [node(1), node(2)] });
const feature = (id: number) => ({
  ...{ type: "Feature", id: `node/${id}`, properties: { amenity: "fuel" } },
  geometry: { type: "Point", coordinates: [12.5, 41.9] },
});
const features = JSON.stringify({ type: "FeatureCollection", features: [feature(1), feature(2)] });
const osmText =
  '<osm version="0.6"><node id="1" lat="41.9" lon="12.5"><tag k="amenity" v="fuel"/></node></osm>';
const shops = '<list><shop id="1"><name>A</name></shop></list>';
const extract = () =>
  osmExtract({ nodes: [{ id: 1, lat: 41.9, lon: 12.5, tags: { amenity: "fuel" } }] });
const page = "<!doctype html><html><head><title>503 Service Unavailable</title></head></html>";
const rows = `7,${"A".repeat(999)},41.5,12.5\n`.repeat(9000);
const bomb = () => Buffer.from(`id,name,lat,lon\n${rows}`);
const listBomb = () => `{"elements":[${"{},".repeat(4_000_000)}{}]}`;
const laughs =
  '<!DOCTYPE list [<!ENTITY a "ha">' +
  Array.from(
    { length: 9 },
    (_, n) => `<!ENTITY ${"bcdefghij"[n]} "${`&${"abcdefghi"[n]};`.repeat(10)}">`,
  ).join("") +
  "]><list><shop>&j;</shop></list>";
const cut = /cut off/;

/** Wrong files of each format, as operators meet them or as somebody makes them on purpose. */
export const brokenFiles: readonly BrokenFile[] = [
  ["empty", csv, () => "", /it is empty/],
  ["an error page for a table", csv, () => page, /web page \(“503 Service Unavailable”\)/],
  ["an error page for JSON", overpass, () => page, /web page/],
  ["an error page for XML", xml, () => page, /web page/],
  ["JSON for a table", csv, () => elements, /JSON, not a table/],
  ["XML for a table", csv, () => shops, /XML, not a table/],
  ["a table for JSON", overpass, () => table, /is not JSON/],
  ["a table for XML", osm, () => table, /is not XML/],
  ["a table for a PBF", pbf, () => table, /not an extract of OpenStreetMap/],
  ["a table without its lines", csv, () => "id,name\n", /no line below its heading/],
  ["its heading twice", csv, () => table + table, /line 4: it is the heading again/],
  ["its heading doubled", csv, () => "id,name\nid,name\n1,A\n", /line 2: it is the heading again/],
  ["a line that is cut", csv, () => table.slice(0, -12), /it has 2 fields, the lines before it 4/],
  [
    "a quote that never closes",
    csv,
    () => `${table}3,"C,41,12\n${"4,D,41,12\n".repeat(500_000)}`,
    /too long: a " may be missing|inside of quotes/,
  ],
  [
    "a quote within a field",
    csv,
    () => `${table}3,C"x",41,12\n`,
    /stands in the middle of a field/,
  ],
  ["10 million columns", csv, () => `${"c,".repeat(10_000_000)}c\n`, /too long/],
  ["10 million columns without a comma", csv, () => "c".repeat(20_000_000), /too long/],
  [
    "10 million keys in one object",
    overpass,
    () => `{"elements":[{${'"k":1,'.repeat(10_000_000)}"k":1}]}`,
    /more than 8 MB/,
  ],
  ["NUL bytes", csv, () => table.replace("B", "\0\0\0"), /NUL characters/],
  ["NUL bytes in JSON", geojson, () => features.replace("fuel", "\0"), /NUL characters/],
  [
    "another encoding",
    csv,
    () => iconv.encode("id,name\n1,Лукойл\n", "windows-1251"),
    /line 2: this is not UTF-8/,
  ],
  [
    "UTF-8 under another name",
    cyrillic,
    () => "id,name\n1,Лукойл\n",
    /this is UTF-8, not windows-1251/,
  ],
  [
    "two encodings",
    cyrillic,
    () =>
      Buffer.concat([iconv.encode("id,name\n1,Шелл\n", "windows-1251"), Buffer.from("2,Лукойл\n")]),
    /line 3: this is UTF-8/,
  ],
  ["UTF-16 without a mark", csv, () => iconv.encode(table, "utf-16le"), /Is it UTF-16/],
  [
    "an encoding that nobody knows",
    { ...csv, encoding: "klingon" },
    () => table,
    /"klingon" is not known/,
  ],
  ["JSON with a comma at the end", overpass, () => elements.replace("}]}", "},]}"), /is not JSON/],
  [
    "JSON with a comma too few",
    geojson,
    () => features.replace('},{"type":"Feature"', '}{"type":"Feature"'),
    /is not JSON/,
  ],
  ["JSON that is cut", overpass, () => elements.slice(0, -20), cut],
  ["GeoJSON that is cut at its end", geojson, () => features.slice(0, -1), cut],
  ["JSON with more after it", overpass, () => `${elements}${elements}`, /is not JSON|twice/],
  [
    "JSON without the list",
    overpass,
    () => features,
    /it has no list "elements"; it holds type, features/,
  ],
  [
    "JSON of brackets alone",
    overpass,
    () => `{"elements":${"[".repeat(5_000_000)}`,
    /nest too deeply/,
  ],
  [
    "the answer of a query that failed",
    overpass,
    () => JSON.stringify({ elements: [node(1)], remark: "runtime error: Query timed out" }),
    /a query that failed/,
  ],
  [
    "a sequence that is cut",
    sequence,
    () => `${JSON.stringify(feature(1))}\n${JSON.stringify(feature(2)).slice(0, -9)}`,
    /record 2 is not JSON/,
  ],
  [
    "a sequence in one endless line",
    sequence,
    () => `{"a":"${"x".repeat(20_000_000)}`,
    /more than 8 MB/,
  ],
  ["XML that is cut", xml, () => shops.slice(0, -12), /unclosed tag/],
  [".osm that is cut", osm, () => osmText.slice(0, -30), /is not XML/],
  ["XML with entities of its own", xml, () => laughs, /entities of its own/],
  [
    "XML with an external entity",
    xml,
    () => '<!DOCTYPE l [<!ENTITY x SYSTEM "file:///etc/passwd">]><list><shop>&x;</shop></list>',
    /entities of its own/,
  ],
  ["XML that nests without end", xml, () => "<a>".repeat(5_000_000), /nest too deeply/],
  ["XML with an endless element", xml, () => `<list><shop>${"x".repeat(30_000_000)}`, /too long/],
  ["XML without such elements", xml, () => osmText, /no element "list.shop"/],
  ["a PBF that is cut", pbf, () => extract().subarray(0, -10), /in the middle of a block/],
  [
    "a PBF with a flipped bit",
    pbf,
    () => {
      const bytes = extract();
      bytes[bytes.length - 8]! ^= 0xff;
      return bytes;
    },
    /cannot be read/,
  ],
  [
    "a PBF that is something else",
    pbf,
    () => Buffer.alloc(1000, 7),
    /not an extract of OpenStreetMap/,
  ],
  ["gzip that is cut", csv, () => gzipSync(table).subarray(0, -9), /breaks off or is damaged/],
  ["a gzip bomb", overpass, () => gzipSync(listBomb()), /200 times as large/],
  ["a gzip bomb for a PBF", pbf, () => gzipSync(bomb()), /not an extract of OpenStreetMap/],
  ["a zip bomb", csv, () => zipOf({ "a.csv": bomb() }), /200 times as large/],
  [
    "a zip that is cut",
    csv,
    () => zipOf({ "a.csv": table }).subarray(0, -30),
    /breaks off or is damaged/,
  ],
  [
    "a zip of several files",
    csv,
    () => zipOf({ "a.csv": table, "b.csv": table }),
    /several files, but a.csv, b.csv/,
  ],
  ["an empty zip", csv, () => zipOf({}), /archive/],
  [
    "a spreadsheet",
    csv,
    () => zipOf({ "[Content_Types].xml": "x", "xl/workbook.xml": "x" }),
    /spreadsheet/,
  ],
  ["bzip2", osm, () => "BZh91AY&SY", /bunzip2/],
  ["a PDF", csv, () => "%PDF-1.7", /this is a PDF/],
  ["random bytes", csv, () => deflateRawSync(Buffer.alloc(4000, "9f3k")), /not UTF-8|NUL/],
];
