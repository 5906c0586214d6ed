import type { FileSpec } from "#src/import/records.ts";
import { osmExtract } from "#test/harness/osm-extract.ts";

/** A shape of file: `of` gives its content of `n` stations, or columns, and so on. */
export interface Shape {
  what: string;
  read: FileSpec;
  /** The smallest of its sizes. */
  n: number;
  unit?: string;
  of: (n: number) => string | Buffer;
}

const latOf = (n: number): number => 43 + (n % 1000) / 100;
const lonOf = (n: number): number => 2 + Math.floor(n / 1000) / 50;
const station = (n: number) => ({ id: n, lat: latOf(n), lon: lonOf(n), name: `Station ${n}` });
const tags = { amenity: "fuel", brand: "Shell", "fuel:diesel": "yes", opening_hours: "24/7" };
const list = <T>(n: number, of: (n: number) => T): T[] =>
  Array.from({ length: n }, (_, i) => of(i));
const csvOf = (rows: readonly string[]): string => `id,lat,lon,name\n${rows.join("\n")}\n`;
const featureOf = (n: number) => ({
  ...{ type: "Feature", id: `node/${n}`, properties: { ...tags, name: `Station ${n}` } },
  geometry: { type: "Point", coordinates: [lonOf(n), latOf(n)] },
});
const elementOf = (n: number) => ({ type: "node", ...station(n), tags });
const xmlOf = (n: number): string =>
  `<shop id="${n}"><lat>${latOf(n)}</lat><lon>${lonOf(n)}</lon><name>Station ${n}</name></shop>`;
const nodeOf = (n: number): string =>
  `<node id="${n}" lat="${latOf(n)}" lon="${lonOf(n)}"><tag k="amenity" v="fuel"/><tag k="brand" v="Shell"/></node>`;
const many = (n: number, of: (n: number) => string): string => list(n, of).join("\n");

const csv: FileSpec = { format: "csv" };
const json: FileSpec = { format: "json" };
const xml: FileSpec = { format: "xml", records: "list.shop" };

/** What registers look like, and what they seldom look like. */
export const shapes: readonly Shape[] = [
  {
    what: "CSV",
    read: csv,
    n: 40_000,
    of: (n) => csvOf(list(n, (i) => Object.values(station(i)).join())),
  },
  { what: "JSON, a list", read: json, n: 40_000, of: (n) => JSON.stringify(list(n, station)) },
  {
    what: "JSON, a list in objects",
    read: { ...json, records: "data.list" },
    n: 40_000,
    of: (n) => JSON.stringify({ data: { list: list(n, station) } }),
  },
  {
    what: "NDJSON",
    read: { format: "ndjson" },
    n: 40_000,
    of: (n) => many(n, (i) => JSON.stringify(station(i))),
  },
  {
    what: "GeoJSON",
    read: { format: "geojson" },
    n: 20_000,
    of: (n) => JSON.stringify({ type: "FeatureCollection", features: list(n, featureOf) }),
  },
  {
    what: "GeoJSON, a sequence",
    read: { format: "geojsonseq" },
    n: 20_000,
    of: (n) => many(n, (i) => JSON.stringify(featureOf(i))),
  },
  {
    what: "Overpass JSON",
    read: { ...json, records: "elements" },
    n: 20_000,
    of: (n) => JSON.stringify({ elements: list(n, elementOf) }),
  },
  { what: "XML", read: xml, n: 20_000, of: (n) => `<list>${many(n, xmlOf)}</list>` },
  {
    what: ".osm",
    read: { format: "osm-xml" },
    n: 20_000,
    of: (n) => `<osm version="0.6">${many(n, nodeOf)}</osm>`,
  },
  {
    what: ".osm.pbf",
    read: { format: "osm-pbf" },
    n: 40_000,
    of: (n) => osmExtract({ nodes: list(n, (i) => ({ ...station(i + 1), tags })) }),
  },
  // One by one: what took square time, or may.
  {
    what: "JSON, an object by ids",
    read: { ...json, records: "stations" },
    n: 10_000,
    of: (n) =>
      JSON.stringify({ stations: Object.fromEntries(list(n, (i) => [`s${i}`, station(i)])) }),
  },
  {
    what: "JSON, one object of n keys",
    read: json,
    n: 20_000,
    unit: "keys",
    of: (n) =>
      JSON.stringify([{ ...station(1), ...Object.fromEntries(list(n, (i) => [`k${i}`, i])) }]),
  },
  {
    what: "JSON, digits no number holds",
    read: json,
    n: 20_000,
    of: (n) =>
      JSON.stringify(list(n, (i) => ({ ...station(i), id: 0 }))).replaceAll(
        '"id":0',
        '"id":90071992547409931234',
      ),
  },
  {
    what: "JSON, a string that does not end",
    read: { format: "ndjson" },
    n: 20_000,
    unit: "quotes",
    of: (n) => `{"id":12345678901234567,"name":"${String.raw`\"`.repeat(n)}`,
  },
  {
    what: "JSON, empty lines",
    read: json,
    n: 50_000,
    unit: "lines",
    of: (n) => `{"id":1,"lat":50,"lon":3}${"\n".repeat(n)}`,
  },
  {
    what: "CSV, columns",
    read: csv,
    n: 1250,
    unit: "columns",
    of: (n) =>
      `id,lat,lon,name,${list(n - 4, () => "c").join()}\n${list(20, (i) => `${i},5${i % 10},3,A,${list(n - 4, String).join()}`).join("\n")}\n`,
  },
  {
    what: "CSV, one latitude",
    read: csv,
    n: 10_000,
    of: (n) => csvOf(list(n, (i) => `${i},50,${-170 + i / 250},A`)),
  },
  {
    what: "CSV, one longitude",
    read: csv,
    n: 10_000,
    of: (n) => csvOf(list(n, (i) => `${i},${-80 + i / 250},10,A`)),
  },
  {
    what: "CSV, 50 at each position",
    read: csv,
    n: 5000,
    of: (n) => csvOf(list(n, (i) => `${i},${latOf(Math.floor(i / 50))},3,Same`)),
  },
  {
    what: "CSV, one name each",
    read: csv,
    n: 20_000,
    of: (n) => csvOf(list(n, (i) => `${i},${latOf(i)},${lonOf(i)},Name ${i.toString(36)} Oil`)),
  },
  {
    what: "CSV, all refused",
    read: csv,
    n: 20_000,
    of: (n) => csvOf([...list(n, (i) => `${i},x,y,A`), "a,50,3,A"]),
  },
  {
    what: "CSV, one id",
    read: csv,
    n: 20_000,
    of: (n) => csvOf(list(n, (i) => `1,50,${3 + i / n},A`)),
  },
  {
    what: "CSV, quotes with lines",
    read: csv,
    n: 20_000,
    of: (n) => csvOf(list(n, (i) => `${i},${latOf(i)},${lonOf(i)},"A\n\nB"`)),
  },
  {
    what: "XML, one element of n children",
    read: xml,
    n: 10_000,
    unit: "children",
    of: (n) => `<list><shop id="1"><lat>50</lat><lon>3</lon>${"<x>1</x>".repeat(n)}</shop></list>`,
  },
  {
    what: "XML, one element of n attributes",
    read: xml,
    n: 10_000,
    unit: "attributes",
    of: (n) =>
      `<list><shop id="1" ${list(n, (i) => `a${i}="1"`).join(" ")}><lat>50</lat><lon>3</lon></shop></list>`,
  },
  {
    what: "XML, text in n pieces",
    read: xml,
    n: 20_000,
    unit: "pieces",
    of: (n) =>
      `<list><shop id="1"><lat>50</lat><lon>3</lon><name>${"a&amp;<!-- -->".repeat(n)}</name></shop></list>`,
  },
  {
    what: ".osm.pbf, ways",
    read: { format: "osm-pbf" },
    n: 5000,
    of: (n) =>
      osmExtract({
        nodes: list(n, (i) => station(i + 1)),
        ways: list(n, (i) => ({ id: i + 1, refs: [i + 1], tags })),
      }),
  },
];
