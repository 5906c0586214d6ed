import type { StationRow } from "#src/feed/feed.ts";
import { rows, type Db } from "#src/infrastructure/db.ts";
import { applyStations, idsInService, removeStations } from "#src/import/apply-stations.ts";
import { brandSpellings, withoutTownBrands, type Town } from "#src/import/brand-names.ts";
import {
  type Collected,
  importFile,
  type ImportOptions,
  type ImportSummary,
  refuse,
  summaryOf,
} from "#src/import/file-import.ts";
import { type ImportedStation, shownNames } from "#src/import/osm-station.ts";
import { guessStationFormat, readStations, type StationFormat } from "#src/import/read-stations.ts";
import type { FileFault } from "#src/import/read-text.ts";
import { joinSame } from "#src/import/same-station.ts";

/**
 * Imports stations from a file of OSM objects. The file is read and checked to its end before the first row changes.
 * When it is interrupted while saving, it has applied whole transactions, and a second import does the rest.
 */
export function importStations(
  db: Db,
  options: ImportOptions<StationFormat>,
): Promise<ImportSummary | FileFault> {
  const { path, source = "osm" } = options;
  return importFile(
    db,
    options,
    `stations of ${source}`,
    async (onBytes) => {
      const format = options.format ?? (await guessStationFormat(path));
      return { format, ...(await readStations(path, format, source, onBytes)) };
    },
    (staged) => apply(db, { ...options, source, format: staged.format }, staged),
  );
}

async function apply(
  db: Db,
  options: ImportOptions<StationFormat> & { source: string; format: StationFormat },
  staged: Collected<ImportedStation>,
): Promise<ImportSummary> {
  const { source, replaceSource, dryRun, progress } = options;
  const cities = await rows<Town>(db, "select name, lat, lon from cities");
  const imported = withoutTownBrands(staged.found, cities);
  const inService = new Set(await idsInService(db, source));
  const { groups, doubtful } = joinSame(imported, inService);
  const brands = brandSpellings(await servedBrands(db), imported);
  const stations: StationRow[] = [];
  for (const { station } of groups) {
    const { id, lat, lon, addr } = station;
    if (station.sells === "gas") refuse(staged, "lpg-only");
    else stations.push({ id, lat, lon, addr, ...shownNames(station, brands) });
  }
  const kept = new Set(stations.map(({ id }) => id));
  const doubles = groups.flatMap((group) => group.doubles);
  const gone = (replaceSource ? [...inService] : doubles).filter(
    (id) => inService.has(id) && !kept.has(id),
  );
  const total = stations.length + gone.length;
  const applied = await applyStations(db, source, stations, dryRun, (done) =>
    progress("saving", done, total),
  );
  const removed = dryRun
    ? gone.length
    : await removeStations(db, source, gone, (done) =>
        progress("saving", stations.length + done, total),
      );
  const counts = { ...applied, merged: doubles.length, removed };
  return { ...summaryOf(options, staged, counts), doubtful };
}

const servedBrands = (db: Db): Promise<{ brand: string; count: number }[]> =>
  rows(
    db,
    "select brand, count(*) from stations where removed_at is null and brand <> '' group by brand",
  );
