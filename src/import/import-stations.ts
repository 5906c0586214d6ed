import type { StationRow } from "#src/feed/feed.ts";
import { rows, type Db } from "#src/infrastructure/db.ts";
import { applyStations, idsInService, removeStations } from "#src/import/apply-stations.ts";
import { brandSpellings, withoutTownBrands, type Named } from "#src/import/brand-spelling.ts";
import { shownNames } from "#src/import/osm-station.ts";
import { guessStationFormat, readStations, type StationFormat } from "#src/import/read-stations.ts";
import { asFault } from "#src/import/read-text.ts";
import { joinSame } from "#src/import/same-station.ts";
import { withSourceLock } from "#src/import/source-lock.ts";
import { count, isFault, type FileFault, type ImportSummary } from "#src/import/summary.ts";

export interface ImportOptions<Format extends string> {
  path: string;
  format: Format | undefined;
  /** Which import these rows belong to: --replace-source looks at these alone. Left out: one for each kind of file. */
  source: string | undefined;
  replaceSource: boolean;
  dryRun: boolean;
  /** Told how far the work is: bytes of the file, then rows. */
  progress: (step: "reading" | "saving", done: number, total: number | null) => void;
  /** Told once when another import of the same source has to end first. */
  waiting: () => void;
}

/**
 * Imports stations from a file of OSM objects. The file is read and checked to its end before the first row changes.
 * Interrupted while saving, it has applied whole transactions, and the same import again does the rest.
 */
export async function importStations(
  db: Db,
  options: ImportOptions<StationFormat>,
): Promise<ImportSummary | FileFault> {
  const { path, source = "osm", progress } = options;
  const staged = await asFault(path, async () => {
    const format = options.format ?? (await guessStationFormat(path));
    return {
      format,
      ...(await readStations(path, format, source, (bytes) => progress("reading", bytes, null))),
    };
  });
  if (isFault(staged)) return staged;
  const subject = `stations of ${source}`;
  return withSourceLock(db, subject, options.waiting, () =>
    apply(db, { ...options, source }, staged),
  );
}

type Staged = { format: StationFormat } & Awaited<ReturnType<typeof readStations>>;

async function apply(
  db: Db,
  { source, replaceSource, dryRun, progress }: ImportOptions<StationFormat> & { source: string },
  staged: Staged,
): Promise<ImportSummary> {
  const candidates = withoutTownBrands(
    staged.candidates,
    await rows<Named>(db, "select name, lat, lon from cities"),
  );
  const inService = new Set(await idsInService(db, source));
  const { groups, doubtful } = joinSame(candidates, inService);
  const brands = brandSpellings(await servedBrands(db), candidates);
  const stations: StationRow[] = [];
  const reasons = { ...staged.reasons };
  for (const { station } of groups) {
    if (station.sells === "gas") {
      count(reasons, "lpg-only");
      continue;
    }
    const { id, lat, lon, addr } = station;
    stations.push({ id, lat, lon, addr, ...shownNames(station, brands) });
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
  return {
    source,
    format: staged.format,
    dry_run: dryRun,
    read: staged.read,
    ...applied,
    merged: doubles.length,
    removed,
    refused: staged.refused + groups.length - stations.length,
    reasons,
    doubtful,
  };
}

const servedBrands = (db: Db): Promise<{ brand: string; count: number }[]> =>
  rows(
    db,
    "select brand, count(*) from stations where removed_at is null and brand <> '' group by brand",
  );
