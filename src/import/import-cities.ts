import { distanceM } from "#src/domain/geo.ts";
import { inTransaction, rows, type Db, type Tx } from "#src/infrastructure/db.ts";
import {
  readCities,
  type CityFormat,
  type CityLayout,
  type CityRow,
  type CitiesRead,
} from "#src/import/city-file.ts";
import { geonames } from "#src/import/city-geonames.ts";
import { hflabs } from "#src/import/city-hflabs.ts";
import type { ImportOptions } from "#src/import/import-stations.ts";
import { asFault, readText, wrongFile } from "#src/import/read-text.ts";
import { withSourceLock } from "#src/import/source-lock.ts";
import { isFault, type FileFault, type ImportSummary } from "#src/import/summary.ts";

const layouts: Record<CityFormat, CityLayout> = { hflabs, geonames };
const sameCityM = 20_000;

/**
 * Imports cities; a few thousand rows at most, so in one transaction. A city that another source already gave (same
 * name within 20 km) is replaced, so that it is in the list once; those count as removed.
 */
export async function importCities(
  db: Db,
  options: ImportOptions<CityFormat>,
): Promise<ImportSummary | FileFault> {
  const { path, progress } = options;
  const staged = await asFault(path, async () => {
    const format = options.format ?? (await guessCityFormat(path));
    return {
      format,
      ...(await readCities(path, layouts[format], (bytes) => progress("reading", bytes, null))),
    };
  });
  if (isFault(staged)) return staged;
  // One lock for all sources, because an import looks at the cities of the others.
  return withSourceLock(db, "cities", options.waiting, () =>
    inTransaction(db, (tx) =>
      apply(tx, { ...options, source: options.source ?? staged.format }, staged),
    ),
  );
}

async function guessCityFormat(path: string): Promise<CityFormat> {
  for await (const head of readText(path, () => undefined)) {
    const line = head.split("\n", 1)[0] ?? "";
    if (line.includes("fias_id") && line.includes("geo_lat")) return "hflabs";
    if (line.split("\t").length === 19) return "geonames";
    break;
  }
  throw wrongFile("is neither hflabs nor GeoNames (say which with --format)");
}

type Stored = CityRow & { source: string };

async function apply(
  tx: Tx,
  { source, replaceSource, dryRun, progress }: ImportOptions<CityFormat> & { source: string },
  staged: { format: CityFormat } & CitiesRead,
): Promise<ImportSummary> {
  const stored = await rows<Stored>(
    tx,
    "select id, source, name, region, lat, lon, population from cities",
  );
  const before = new Map(stored.map((city) => [city.id, city]));
  const given = new Map(staged.cities.map((city) => [city.id, city]));
  const touched = staged.cities.filter((city) => differs(source, city, before.get(city.id)));
  const added = touched.filter(({ id }) => !before.has(id)).length;
  const elsewhere = sameElsewhere(
    stored.filter((city) => city.source !== source && !given.has(city.id)),
    staged.cities,
  );
  const absent = replaceSource
    ? stored.filter((city) => city.source === source && !given.has(city.id))
    : [];
  const gone = [...elsewhere, ...absent].map(({ id }) => id);
  if (!dryRun) await write(tx, source, touched, gone);
  progress("saving", staged.cities.length, staged.cities.length);
  return {
    source,
    format: staged.format,
    dry_run: dryRun,
    read: staged.read,
    added,
    changed: touched.length - added,
    unchanged: staged.cities.length - touched.length,
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
  const column = <K extends keyof CityRow>(name: K): CityRow[K][] => cities.map((one) => one[name]);
  await tx.raw(
    `insert into cities (id, source, name, region, lat, lon, population)
      select id, ?, name, region, lat, lon, population
      from unnest(?::text[], ?::text[], ?::text[], ?::float8[], ?::float8[], ?::integer[])
        as given (id, name, region, lat, lon, population)
      on conflict (id) do update set source = excluded.source, name = excluded.name, region = excluded.region,
        lat = excluded.lat, lon = excluded.lon, population = excluded.population, updated_at = server_now()`,
    [
      source,
      column("id"),
      column("name"),
      column("region"),
      column("lat"),
      column("lon"),
      column("population"),
    ],
  );
  if (gone.length + cities.length > 0) await tx.raw("select pg_notify('cities', '')");
}
