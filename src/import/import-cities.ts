import { foldText } from "#src/contract/fold-text.ts";
import { distanceM } from "#src/domain/geo.ts";
import { inTransaction, rows, type Db, type Tx } from "#src/infrastructure/db.ts";
import {
  type Collected,
  compareRows,
  importFile,
  type ImportOptions,
  type ImportSummary,
  refuseRemovals,
  summaryOf,
} from "#src/import/file-import.ts";
import { grouped, slices } from "#src/infrastructure/lists.ts";
import {
  type CityFormat,
  type StoredCity,
  guessCityFormat,
  readCities,
} from "#src/import/read-cities.ts";
import { type RefusalsFault, type RefusedRows, withRefusedRows } from "#src/import/refusals.ts";
import type { FileFault, ReadProgress } from "#src/import/read-text.ts";

const sameCityM = 20_000;

/**
 * Imports cities: a few thousand rows at most, so in one transaction. A city of another source (same name within 20 km)
 * is replaced, so that it is in the list once, and counts as removed.
 */
export function importCities(
  db: Db,
  options: ImportOptions<CityFormat>,
): Promise<(ImportSummary & RefusalsFault) | FileFault> {
  const { path, refusals } = options;
  const read = async (onBytes: ReadProgress, rows: RefusedRows) => {
    const format = options.format ?? (await guessCityFormat(path));
    return { format, ...(await readCities(path, format, onBytes, rows)) };
  };
  // One lock for all sources, because an import reads the cities of the others.
  return withRefusedRows(refusals, [path], (rows) =>
    importFile(
      db,
      options,
      "cities",
      (onBytes) => read(onBytes, rows),
      (staged) => {
        const { format } = staged;
        const decided = { ...options, format, source: options.source ?? format };
        return inTransaction(db, (tx) => apply(tx, decided, staged));
      },
    ),
  );
}

type Stored = StoredCity & { source: string };

async function apply(
  tx: Tx,
  options: ImportOptions<CityFormat> & { source: string; format: CityFormat },
  staged: Collected<StoredCity>,
): Promise<ImportSummary> {
  const { source, replaceSource, dryRun, progress } = options;
  const sql = "select id, source, name, region, lat, lon, population from cities";
  const stored = await rows<Stored>(tx, sql);
  const { touched, ...counts } = compareRows(source, staged.found, stored);
  const inFile = new Set(staged.found.map(({ id }) => id));
  const elsewhere = sameElsewhere(
    stored.filter((city) => city.source !== source && !inFile.has(city.id)),
    staged.found,
  );
  const absent = replaceSource
    ? stored.filter((city) => city.source === source && !inFile.has(city.id))
    : [];
  const known = stored.filter((city) => city.source === source).length;
  refuseRemovals(options, "cities", absent.length, known);
  const gone = [...elsewhere, ...absent].map(({ id }) => id);
  if (!dryRun) await write(tx, source, touched, gone);
  progress("saving", staged.found.length, staged.found.length);
  const summary = summaryOf(options, staged, { ...counts, merged: 0, removed: gone.length });
  return { ...summary, doubtful: [] };
}

function sameElsewhere(others: readonly Stored[], cities: readonly StoredCity[]): Stored[] {
  const byName = grouped(cities, ({ name }) => foldText(name));
  return others.filter((other) =>
    byName.get(foldText(other.name))?.some((city) => distanceM(city, other) <= sameCityM),
  );
}

async function write(
  tx: Tx,
  source: string,
  cities: readonly StoredCity[],
  gone: readonly string[],
): Promise<void> {
  await rows(tx, "delete from cities where id = any(?::text[])", [gone]);
  const written = { source, updated_at: tx.raw("server_now()") };
  for (const some of slices(cities, 1000))
    await tx("cities")
      .insert(some.map((city) => ({ ...city, ...written })))
      .onConflict("id")
      .merge();
  if (gone.length + cities.length > 0) await tx.raw("select pg_notify('cities', '')");
}
