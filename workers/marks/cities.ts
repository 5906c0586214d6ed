import { LRUCache } from "lru-cache";
import { minuteMs } from "#src/domain/units.ts";
import { rows, type Statements } from "#src/infrastructure/db.ts";
import { nearestCity } from "#src/marks/nearest-city.ts";

/** The city, or the cell, of a station in the review (decisions 4.6). */
export interface ReviewCity {
  /** Id of the city, or of the cell if no city is near. */
  id: string;
  /** `""` for a cell. */
  name: string;
  /** Stations there that have a status. */
  stations: number;
}

/** A city or a cell, with its middle. */
interface LocatedCity extends Omit<ReviewCity, "stations"> {
  lat: number;
  lon: number;
}

const keptMs = 10 * minuteMs;

/**
 * Gives the city of stations, for each harmful mark. Caches a station's city and a city's size for ten minutes, because
 * the size takes a read of all stations.
 */
export function createReviewCities() {
  const places = new LRUCache<string, LocatedCity>({ max: 20_000, ttl: keptMs });
  const sizes = new LRUCache<string, number>({ max: 5000, ttl: keptMs });

  return async (
    tx: Statements,
    stationIds: readonly string[],
  ): Promise<ReadonlyMap<string, ReviewCity>> => {
    const placeOf = await filled(places, stationIds, (asked) => readPlaces(tx, asked));
    const byId = new Map([...placeOf.values()].map((place) => [place.id, place]));
    const sizeOf = await filled(sizes, [...byId.keys()], (asked) =>
      readSizes(
        tx,
        asked.map((id) => byId.get(id)!),
      ),
    );
    return new Map(
      [...placeOf].map(([stationId, { id, name }]) => [
        stationId,
        { id, name, stations: sizeOf.get(id)! },
      ]),
    );
  };
}

/** The values of these keys from a cache, or else from `read`, whose values the cache then keeps. */
async function filled<T extends object | number>(
  cache: LRUCache<string, T>,
  keys: readonly string[],
  read: (asked: readonly string[]) => Promise<ReadonlyMap<string, T>>,
): Promise<Map<string, T>> {
  const known = new Map(
    keys.flatMap((key) => {
      const value = cache.get(key);
      return value === undefined ? [] : [[key, value] as const];
    }),
  );
  const asked = keys.filter((key) => !known.has(key));
  if (asked.length === 0) return known;
  for (const [key, value] of await read(asked)) {
    cache.set(key, value);
    known.set(key, value);
  }
  return known;
}

/** The nearest city of each station, otherwise its cell. */
async function readPlaces(
  tx: Statements,
  stationIds: readonly string[],
): Promise<Map<string, LocatedCity>> {
  const found = await rows<LocatedCity & { station_id: string }>(
    tx,
    `select a.id as station_id, coalesce('city ' || c.id, 'cell ' || floor(a.lat * 2) || ' ' || floor(a.lon * 2)) as id,
       coalesce(c.name, '') as name, coalesce(c.lat, floor(a.lat * 2) / 2 + 0.25) as lat,
       coalesce(c.lon, floor(a.lon * 2) / 2 + 0.25) as lon
     from stations a left join ${nearestCity} on true
     where a.id = any(?::text[])`,
    [stationIds],
  );
  return new Map(found.map(({ station_id, ...place }) => [station_id, place]));
}

/** Number of stations with a status around the middle of each place. */
async function readSizes(
  tx: Statements,
  places: readonly LocatedCity[],
): Promise<Map<string, number>> {
  const found = await rows<{ id: string; stations: number }>(
    tx,
    // Counted for each place apart, so that Postgres looks for it in the index of latitudes.
    `select p.id, n.stations from unnest(?::text[], ?::float8[], ?::float8[]) as p(id, lat, lon) cross join lateral (
       select count(*)::int as stations from stations s join station_status t on t.station_id = s.id
       where s.lat between p.lat - 0.25 and p.lat + 0.25 and abs(s.lon - p.lon) * cos(radians(p.lat)) <= 0.25
         and s.removed_at is null and t.status <> 'nodata') n`,
    [places.map(({ id }) => id), places.map(({ lat }) => lat), places.map(({ lon }) => lon)],
  );
  return new Map(found.map(({ id, stations }) => [id, stations]));
}
