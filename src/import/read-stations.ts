import { readItems } from "#src/import/json-items.ts";
import { fromGeojson, fromOverpass, type ReadObject } from "#src/import/osm-object.ts";
import { stationFrom, type ImportedStation } from "#src/import/osm-station.ts";
import { readText, wrongFile, type ReadProgress } from "#src/import/read-text.ts";
import { count, type Reasons } from "#src/import/summary.ts";

export const stationFormats = ["overpass", "geojson"] as const;
export type StationFormat = (typeof stationFormats)[number];

export interface StationsRead {
  read: number;
  candidates: ImportedStation[];
  refused: number;
  reasons: Reasons;
}

const layouts: Record<StationFormat, { list: string; read: ReadObject }> = {
  overpass: { list: "elements", read: fromOverpass },
  geojson: { list: "features", read: fromGeojson },
};

/**
 * The candidates in a file of OSM objects. Throws a wrong-file fault for a file that is broken, cut off, of another
 * kind, the answer of a query that failed, or without one single station.
 */
export async function readStations(
  path: string,
  format: StationFormat,
  source: string,
  progress: ReadProgress,
): Promise<StationsRead> {
  const { list, read } = layouts[format];
  const result: StationsRead = { read: 0, candidates: [], refused: 0, reasons: {} };
  const ids = new Set<string>();
  const beside = (key: string, value: unknown): void => {
    // Overpass answers 200 with what it had when a query ran out of time or memory, and says so only here.
    if (key === "remark" && /error|timed out|timeout/i.test(String(value)))
      throw wrongFile(`holds the answer of a query that failed (${String(value).slice(0, 100)})`);
  };
  for await (const item of readItems(path, list, progress, beside)) {
    result.read += 1;
    const found = candidateFrom(read(item, source));
    const refused = "refused" in found ? found.refused : ids.has(found.id) ? "repeated-id" : null;
    if (refused !== null) {
      result.refused += 1;
      count(result.reasons, refused);
    } else if ("id" in found) {
      ids.add(found.id);
      result.candidates.push(found);
    }
  }
  if (result.candidates.length === 0) throw wrongFile("holds no filling station");
  return result;
}

const candidateFrom = (found: ReturnType<ReadObject>): ImportedStation | { refused: string } =>
  "refused" in found ? found : stationFrom(found);

/** The format that the beginning of a file shows. Throws a wrong-file fault when it shows none. */
export async function guessStationFormat(path: string): Promise<StationFormat> {
  let head = "";
  for await (const piece of readText(path, () => undefined)) {
    head += piece;
    if (/"FeatureCollection"/.test(head)) return "geojson";
    if (/"elements"\s*:/.test(head)) return "overpass";
    if (head.length > 1_000_000) break;
  }
  throw wrongFile("is neither Overpass JSON nor GeoJSON (say which with --format)");
}
