import { LRUCache } from "lru-cache";
import { minuteMs } from "#src/domain/units.ts";
import { rows, type Statements } from "#src/infrastructure/db.ts";

/** Where a station belongs in the review (docs/decisions.md 4.6). */
export interface ReviewCity {
  /** Of the city, or of the cell where none is near. */
  id: string;
  /** `""` for a cell. */
  name: string;
  /** Stations there that have a status. */
  stations: number;
}

/** A city is near up to 25 km; half a degree of latitude is some 50 km. */
const nearKm = 25;
const degreeKm = 111.2;

/** Knows the city of stations, and remembers it for ten minutes: it is asked for at each harmful mark. */
export function createReviewCities() {
  const known = new LRUCache<string, ReviewCity>({ max: 20_000, ttl: 10 * minuteMs });

  return async (
    tx: Statements,
    stationIds: readonly string[],
  ): Promise<ReadonlyMap<string, ReviewCity>> => {
    const found = new Map(stationIds.map((id) => [id, known.get(id)]));
    const asked = [...found].flatMap(([id, city]) => (city === undefined ? id : []));
    for (const { station_id, ...city } of asked.length === 0 ? [] : await readCities(tx, asked)) {
      known.set(station_id, city);
      found.set(station_id, city);
    }
    return new Map([...found].flatMap(([id, city]) => (city === undefined ? [] : [[id, city]])));
  };
}

const readCities = (
  tx: Statements,
  stationIds: readonly string[],
): Promise<(ReviewCity & { station_id: string })[]> =>
  rows<ReviewCity & { station_id: string }>(
    tx,
    `with asked as (select id, lat, lon from stations where id = any(?::text[])),
     place as materialized (
       select a.id as station_id, coalesce('city ' || c.id, 'cell ' || floor(a.lat * 2) || ' ' || floor(a.lon * 2)) as id,
         coalesce(c.name, '') as name, coalesce(c.lat, floor(a.lat * 2) / 2 + 0.25) as lat,
         coalesce(c.lon, floor(a.lon * 2) / 2 + 0.25) as lon
       from asked a left join lateral (
         select c.id, c.name, c.lat, c.lon,
           power((c.lat - a.lat) * ${degreeKm}, 2) + power((c.lon - a.lon) * ${degreeKm} * cos(radians(a.lat)), 2) as km2
         from cities c where c.lat between a.lat - 0.25 and a.lat + 0.25 order by km2 limit 1
       ) c on c.km2 <= ${nearKm * nearKm}),
     size as materialized (
       select p.id, count(*) as stations from (select distinct id, lat, lon from place) p
       join stations s on s.lat between p.lat - 0.25 and p.lat + 0.25
         and abs(s.lon - p.lon) * cos(radians(p.lat)) <= 0.25 and s.removed_at is null
       join station_status t on t.station_id = s.id and t.status <> 'nodata'
       group by p.id)
     select place.station_id, place.id, place.name, coalesce(size.stations, 0)::int as stations
     from place left join size using (id)`,
    [stationIds],
  );
