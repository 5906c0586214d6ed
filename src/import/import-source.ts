import { dayMs } from "#src/domain/units.ts";
import type { ImportOptions, ImportSummary } from "#src/import/file-import.ts";
import { importStationRows } from "#src/import/import-stations.ts";
import { importStatusRows, type StatusSummary } from "#src/import/import-statuses.ts";
import { guardAllNo } from "#src/import/guards.ts";
import type { StatusesRead } from "#src/import/read-statuses.ts";
import { asFault, type FileFault, isFault } from "#src/import/read-text.ts";
import {
  type RefusalsFault,
  type RefusedRow,
  type RefusedRows,
  withRefusedRows,
} from "#src/import/refusals.ts";
import { type Source, storedAs } from "#src/import/source.ts";
import { findFiles, type FoundFiles } from "#src/import/source-files.ts";
import { readSourceStations, type StationsRead } from "#src/import/source-stations.ts";
import { readSourceStock } from "#src/import/source-stock.ts";
import { databaseNow } from "#src/infrastructure/clock.ts";
import type { Config } from "#src/infrastructure/config.ts";
import type { Db } from "#src/infrastructure/db.ts";

export interface SourceImport extends Pick<
  ImportOptions<string>,
  "dryRun" | "refusals" | "progress" | "waiting"
> {
  source: Source;
  /** Its files in any order, or folders of them. */
  paths: readonly string[];
  /** The name under which rows are stored; by default what the description says. */
  label?: string | undefined;
  replaceSource?: boolean;
  allowRemovals?: number | undefined;
  /** Guards of whole files that are overridden, by name. */
  force?: readonly string[] | undefined;
  /** Called after each commit of statuses with the stations that the marks worker has to refold. */
  touched: (stationIds: string[]) => void;
}

export interface SourceSummary extends RefusalsFault {
  source: string;
  /** Null where the source has nothing of this kind, or a dry run cannot tell yet. */
  stations: ImportSummary | null;
  statuses: StatusSummary | null;
  /** Names of fuels that the description does not know, with their numbers. */
  unknown_fuels: Record<string, number>;
  /** What was taken, though it is unclear or without effect, by its reason. */
  noted: Record<string, number>;
  second_file: StationsRead["secondFile"];
  /** The first refused rows; `refusals` has all. */
  refused_rows: readonly RefusedRow[];
}

/**
 * Imports the files of a source: its stations, then the statuses of its stock-outs, if it has any. Each part is read and
 * checked to its end before its first row changes. The same files again change nothing.
 */
export async function importSource(
  db: Db,
  config: Config,
  options: SourceImport,
): Promise<SourceSummary | FileFault> {
  const { source, paths } = options;
  const label = options.label ?? storedAs(source);
  const files = await asFault(paths.join(", "), () => findFiles(source, paths));
  if (isFault(files)) return files;
  if (options.force?.includes("half") === true)
    for (const file of files.values()) file.spec = { ...file.spec, mayBeCut: true };
  const inputs = [...files.values()].map(({ path }) => path);
  return withRefusedRows(options.refusals, inputs, async (rows) => {
    let told: Pick<SourceSummary, "unknown_fuels" | "second_file"> | undefined;
    const now = await databaseNow(db);
    const stock = await readStock(db, options, { label, now, files, rows });
    if (stock !== null && isFault(stock)) return stock;
    const { dryRun, force, progress, waiting, touched, allowRemovals } = options;
    const common = { dryRun, force, progress, waiting, source: label };
    const { country, credit } = source;
    const replaceSource = options.replaceSource === true;
    const stationOptions = {
      ...{ ...common, path: files.get(source.files[0]!.name)!.path },
      ...{ replaceSource, allowRemovals, country, credit },
      // An extract of OpenStreetMap may be a part of what came before under the same name; removals have a guard.
      isWhole: source.as !== "osm" && !replaceSource,
    };
    const stations = await importStationRows(db, stationOptions, async (onBytes) => {
      const read = await readSourceStations(source, files, { label, now, progress: onBytes, rows });
      const unknown_fuels = Object.fromEntries(read.unknownFuels);
      told = { unknown_fuels, second_file: read.secondFile };
      return { ...read, format: formatOf(source, files) };
    });
    if (isFault(stations)) return stations;
    // A dry run cannot find stations that are not here yet.
    const isUnknown = stock === null || (dryRun && stations.added > 0);
    const path = files.get(stockFile(source) ?? "")?.path ?? "";
    const more = { format: source.name, touched, maxAgeMs: dayMs, asOf: null };
    const statuses = isUnknown
      ? null
      : await importStatusRows(db, config, { ...common, path, ...more }, () =>
          Promise.resolve(stock),
        );
    if (statuses !== null && isFault(statuses)) return statuses;
    const { first: refused_rows, noted } = rows;
    return { source: label, stations, statuses, ...told!, noted, refused_rows };
  });
}

/** What a summary calls the format: the description's name, or which form of OSM it was. */
export function formatOf({ as, name, files }: Source, found: FoundFiles): string {
  const { format } = found.get(files[0]!.name)!.spec;
  return as !== "osm" ? name : format === "json" ? "overpass" : format;
}

/** The statuses of the source's stock-outs, checked before anything changes; null if it has none. */
async function readStock(
  db: Db,
  { source, force, progress }: SourceImport,
  { label, now, files, rows }: { label: string; now: number; files: FoundFiles; rows: RefusedRows },
): Promise<StatusesRead | FileFault | null> {
  const file = stockFile(source);
  if (file === undefined || !files.has(file)) return null;
  return asFault(files.get(file)!.path, async () => {
    const onBytes = (bytes: number): void => progress("reading", bytes, null);
    const read = await readSourceStock(source, files, { label, now, progress: onBytes, rows });
    await guardAllNo(db, { source: label, force }, timely(read, now));
    return read;
  });
}

/** The name of the file that has the stock-outs; undefined without such. */
export const stockFile = ({ stock, files }: Source): string | undefined =>
  stock && (stock.file ?? files[0]!.name);

const timely = ({ statuses }: StatusesRead, now: number) =>
  statuses.filter(({ updated }) => updated > now - dayMs);
