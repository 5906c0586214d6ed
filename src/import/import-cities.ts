import { distanceM } from "#src/domain/geo.ts";
import { inTransaction, rows, type Db, type Tx } from "#src/infrastructure/db.ts";
import {
  type Collected,
  importFile,
  type ImportOptions,
  type ImportSummary,
} from "#src/import/file-import.ts";
import {
  type CityFormat,
  type CityRow,
  guessCityFormat,
  readCities,
} from "#src/import/read-cities.ts";
import type { FileFault } from "#src/import/read-text.ts";

const sameCityM = 20_000;

/**
 * Imports cities: a few thousand rows at most, so in one transaction. A city that another source has given (same name
 * within 20 km) is replaced, so that it is in the list once; those count as removed.
 */
export function importCities(
  db: Db,
  options: ImportOptions<CityFormat>,
): Promise<ImportSummary | FileFault> {
  const { path, progress } = options;
  const read = async (): Promise<Staged> => {
    const format = options.format ?? (await guessCityFormat(path));
    return {
      format,
      ...(await readCities(path, format, (done) => progress("reading", done, null))),
    };
  };
  // One lock for all sources, because an import looks at the cities of the others.
  return importFile(db, options, "cities", read, (staged) =>
    inTransaction(db, (tx) =>
      apply(tx, { ...options, source: options.source ?? staged.format }, staged),
    ),
  );
}

type Staged = { format: CityFormat } & Collected<CityRow>;
type Stored = CityRow & { source: string };

async function apply(
  tx: Tx,
  { source, replaceSource, dryRun, progress }: ImportOptions<CityFormat> & { source: string },
  staged: Staged,
): Promise<ImportSummary> {
  const stored = await rows<Stored>(
    tx,
    "select id, source, name, region, lat, lon, population from cities",
  );
  const before = new Map(stored.map((city) => [city.id, city]));
  const inFile = new Set(staged.found.map(({ id }) => id));
  const touched = staged.found.filter((city) => differs(source, city, before.get(city.id)));
  const added = touched.filter(({ id }) => !before.has(id)).length;
  const elsewhere = sameElsewhere(
    stored.filter((city) => city.source !== source && !inFile.has(city.id)),
    staged.found,
  );
  const absent = replaceSource
    ? stored.filter((city) => city.source === source && !inFile.has(city.id))
    : [];
  const gone = [...elsewhere, ...absent].map(({ id }) => id);
  if (!dryRun) await write(tx, source, touched, gone);
  progress("saving", staged.found.length, staged.found.length);
  return {
    source,
    format: staged.format,
    dry_run: dryRun,
    read: staged.read,
    added,
    changed: touched.length - added,
    unchanged: staged.found.length - touched.length,
    merged: 0,
    removed: gone.length,
    refused: staged.refused,
    reasons: staged.reasons,
    doubtful: [],
  };
}

const differs = (source: string, now: CityRow, was: Stored | undefined): boolean =>
  was === undefined ||
  was.source !== source ||
  (["name", "region", "lat", "lon", "population"] as const).some(
    (field) => was[field] !== now[field],
  );

const nameKey = (name: string): string => name.toLowerCase().replaceAll("ё", "е");

function sameElsewhere(others: readonly Stored[], cities: readonly CityRow[]): Stored[] {
  const byName = new Map<string, CityRow[]>();
  for (const city of cities) {
    const key = nameKey(city.name);
    byName.set(key, [...(byName.get(key) ?? []), city]);
  }
  return others.filter((other) =>
    byName.get(nameKey(other.name))?.some((city) => distanceM(city, other) <= sameCityM),
  );
}

async function write(
  tx: Tx,
  source: string,
  cities: readonly CityRow[],
  gone: readonly string[],
): Promise<void> {
  await rows(tx, "delete from cities where id = any(?::text[])", [gone]);
  const column = (name: keyof CityRow): unknown[] => cities.map((one) => one[name]);
  await rows(
    tx,
    `insert into cities (id, source, name, region, lat, lon, population)
      select id, ?, name, region, lat, lon, population
      from unnest(?::text[], ?::text[], ?::text[], ?::float8[], ?::float8[], ?::integer[])
        as imported (id, name, region, lat, lon, population)
      on conflict (id) do update set source = excluded.source, name = excluded.name, region = excluded.region,
        lat = excluded.lat, lon = excluded.lon, population = excluded.population, updated_at = server_now()`,
    [source, ...(["id", "name", "region", "lat", "lon", "population"] as const).map(column)],
  );
  if (gone.length + cities.length > 0) await tx.raw("select pg_notify('cities', '')");
}
