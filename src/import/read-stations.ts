import { collect, type Collected } from "#src/import/file-import.ts";
import { readItems } from "#src/import/json-items.ts";
import { fromGeojson, fromOverpass, type ReadObject } from "#src/import/osm-object.ts";
import { stationFrom, type ImportedStation } from "#src/import/osm-station.ts";
import { readText, wrongFile, type ReadProgress } from "#src/import/read-text.ts";

export const stationFormats = ["overpass", "geojson"] as const;
export type StationFormat = (typeof stationFormats)[number];

const layouts: Record<StationFormat, { list: string; read: ReadObject }> = {
  overpass: { list: "elements", read: fromOverpass },
  geojson: { list: "features", read: fromGeojson },
};

/**
 * The stations in a file of OSM objects. Throws a wrong-file fault for a file that is broken, cut off or of another
 * kind, for the answer of a query that failed, and for a file without a single station.
 */
export function readStations(
  path: string,
  format: StationFormat,
  source: string,
  progress: ReadProgress,
): Promise<Collected<ImportedStation>> {
  const { list, read } = layouts[format];
  const onOtherValue = (key: string, value: unknown): void => {
    // When a query ran out of time or memory, Overpass answers 200 with a part of the result, and says so only here.
    if (key === "remark" && /error|timed out|timeout/i.test(String(value)))
      throw wrongFile(`holds the answer of a query that failed (${String(value).slice(0, 100)})`);
  };
  const items = readItems(path, list, progress, onOtherValue);
  return collect(items, "filling station", (item) => {
    const object = read(item, source);
    return "refused" in object ? object : stationFrom(object);
  });
}

/** The format, recognised by the beginning of a file. Throws a wrong-file fault when it is none of ours. */
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
