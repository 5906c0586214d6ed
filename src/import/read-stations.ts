import { collect, type Collected } from "#src/import/file-import.ts";
import { fromGeojson, fromOverpass, type ReadObject } from "#src/import/osm-object.ts";
import { stationFrom, type ImportedStation } from "#src/import/osm-station.ts";
import { type FileSpec, guessSpec, readRecords } from "#src/import/records.ts";
import type { ReadProgress } from "#src/import/read-text.ts";

export const stationFormats = ["overpass", "geojson"] as const;
export type StationFormat = (typeof stationFormats)[number];

const layouts: Record<StationFormat, { spec: FileSpec; read: ReadObject }> = {
  overpass: { spec: { format: "json", records: "elements" }, read: fromOverpass },
  geojson: { spec: { format: "geojson" }, read: fromGeojson },
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
  const { spec, read } = layouts[format];
  return collect(readRecords(path, spec, progress), "filling station", ({ value, refused }) => {
    if (refused !== undefined) return { refused };
    const object = read(value, source);
    return "refused" in object ? object : stationFrom(object);
  });
}

/** The format, recognised by the beginning of a file. Throws a wrong-file fault for an unknown format. */
export const guessStationFormat = async (path: string): Promise<StationFormat> =>
  (await guessSpec(path)).format === "geojson" ? "geojson" : "overpass";
