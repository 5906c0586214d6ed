import type { ImportOptions, ImportSummary } from "#src/import/file-import.ts";
import { importStationRows, type StationFormat } from "#src/import/import-stations.ts";
import type { FileFault } from "#src/import/read-text.ts";
import { findFiles } from "#src/import/source-files.ts";
import { sourceNamed } from "#src/import/source-list.ts";
import { readSourceStations } from "#src/import/source-stations.ts";
import type { Db } from "#src/infrastructure/db.ts";

/** What an import is told unless a test says otherwise: it removes nothing, and says nothing meanwhile. */
export const usualImport = {
  ...{ format: undefined, source: undefined, replaceSource: false, dryRun: false },
  ...{ progress: () => undefined, waiting: () => undefined },
};

/**
 * Imports stations from a file of OSM objects. The file is read and checked to its end before the first row changes.
 * When it is interrupted while saving, nothing has changed; of more than 10,000 changes whole transactions have, and a
 * second import does the rest (decisions 14.17).
 */
export function importStations(
  db: Db,
  told: Partial<ImportOptions<StationFormat>> & { path: string },
): Promise<ImportSummary | FileFault> {
  const options = { ...usualImport, ...told };
  const { path, source = "osm" } = options;
  return importStationRows(db, { ...options, source }, async (onBytes) => {
    const description = sourceNamed(options.format ? `osm-${options.format}` : "osm")!;
    const files = await findFiles(description, [path]);
    const { format } = files.get("stations")!.spec;
    const reading = { label: source, now: 0, progress: onBytes };
    const read = await readSourceStations(description, files, reading);
    return { ...read, format: format === "json" ? "overpass" : format };
  });
}
