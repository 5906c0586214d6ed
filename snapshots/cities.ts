import { Type } from "typebox";
import { type Db, rows } from "#src/infrastructure/db.ts";
import { minuteMs } from "#src/domain/units.ts";
import { listen, type Listener } from "#src/infrastructure/listen.ts";
import { createPolled } from "#src/infrastructure/polled.ts";
import { compileShape, type Quarantine, stored } from "#src/infrastructure/quarantine.ts";
import { createCityFinder } from "#snapshots/city-names.ts";
import { foldText } from "#src/contract/fold-text.ts";
import type { StoredCity } from "#src/import/read-cities.ts";
import type { Resources } from "#src/infrastructure/resources.ts";

/** A city as it is served (decisions 6). */
export type City = Omit<StoredCity, "id"> & { zoom: number };

const refreshMs = minuteMs;

/** Keeps all cities in memory, so that no read asks the database. Reloads them on NOTIFY `cities` and each minute. */
export type CityStore = ReturnType<typeof createCityStore>;

export function createCityStore(
  deps: Pick<Resources, "db" | "config" | "log"> & {
    quarantine: Quarantine;
  },
) {
  const { db, config, log, quarantine } = deps;
  /** The largest city first. */
  let largestFirst: { city: City; folded: string }[] = [];
  let find = createCityFinder<City>([]);
  let loaded = false;
  let listener: Listener | null = null;

  const take = (cities: readonly City[]): void => {
    largestFirst = cities.map((city) => ({ city, folded: foldText(city.name) }));
    find = createCityFinder(cities);
  };
  const load = async (): Promise<void> => {
    take(await loadCities(db, quarantine));
    loaded = true;
  };
  const loads = createPolled({
    ...{ everyMs: refreshMs, look: load },
    onError: (err) => log.warn({ err }, "cities not renewed"),
  });

  return {
    /** Loads the cities and keeps them fresh. Rejects when the first load fails. */
    async start() {
      await load();
      listener = listen(config, log, "cities", () => void loads.refresh());
      // Loads once more: a change may have come before somebody listened.
      await loads.start();
    },
    async stop() {
      await listener?.stop();
      await loads.stop();
    },
    /** Takes cities from another source, as long as none could be loaded. */
    preload(cities: readonly City[]) {
      if (!loaded) take(cities);
    },
    /** The largest city with this name (see `createCityFinder`); null when there is none. */
    find: (name: string): City | null => find(name),
    /**
     * Cities by population; with `q` those that begin with it, then those that contain it, else the one that `find`
     * gives.
     */
    list({ q, offset, limit }: { q: string; offset: number; limit: number }) {
      const sought = foldText(q);
      const found = largestFirst.filter(({ folded }) => folded.includes(sought));
      const named = found.length === 0 ? find(q) : null;
      if (named !== null) found.push({ city: named, folded: sought });
      const [first, then] = [true, false].map((begins) =>
        found.filter(({ folded }) => folded.startsWith(sought) === begins),
      );
      const cities = [...first!, ...then!].slice(offset, offset + limit).map(({ city }) => city);
      return { cities, total: found.length };
    },
  };
}

const { text } = stored;
export const cityShape = compileShape(
  Type.Object({
    ...{ name: text, region: text, population: Type.Integer({ minimum: 0 }) },
    lat: Type.Number({ minimum: -90, maximum: 90 }),
    lon: Type.Number({ minimum: -180, maximum: 180 }),
  }),
);

/** Every city that can be read, the largest first. */
export async function loadCities(db: Db, quarantine: Quarantine): Promise<City[]> {
  const found = await loadCityRows(db, quarantine);
  return found.map(({ name, region, lat, lon, population }) => ({
    ...{ name, region, lat, lon, population },
    zoom: zoomOf(population),
  }));
}

/** The same with their ids, which are not served. */
export async function loadCityRows(
  db: Db,
  quarantine: Pick<Quarantine, "sift">,
): Promise<StoredCity[]> {
  const sql =
    "select id, name, region, lat, lon, population from cities order by population desc, name, id";
  const found = await rows<StoredCity>(db, sql);
  return quarantine.sift("cities", found, ({ id }) => id, cityShape);
}

const zoomOf = (population: number): number =>
  population < 250_000 ? 12 : population <= 1_000_000 ? 11 : 10;
