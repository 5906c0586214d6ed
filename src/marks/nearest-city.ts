import { rows, type Statements } from "#src/infrastructure/db.ts";

/** A city is near up to 25 km; half a degree of latitude is some 50 km. */
export const nearKm = 25;
export const degreeKm = 111.2;

/**
 * SQL to join to `stations a`, as `c`: the city of a station for the review and a rollback, the nearest one within 25
 * km (decisions 4.6). Has `id`, `name`, `lat` and `lon`.
 */
export const nearestCity = `lateral (
  select * from (
    select c.id, c.name, c.lat, c.lon,
      power((c.lat - a.lat) * ${degreeKm}, 2) + power((c.lon - a.lon) * ${degreeKm} * cos(radians(a.lat)), 2) as km2
    from cities c where c.lat between a.lat - 0.25 and a.lat + 0.25 order by km2 limit 1) nearest
  where km2 <= ${nearKm * nearKm}) c`;

/** The names of these stations' cities, by station; stations without a city near are absent. */
export async function cityNames(
  tx: Statements,
  stationIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const found = await rows<{ id: string; name: string }>(
    tx,
    `select a.id, c.name from stations a cross join ${nearestCity} where a.id = any(?::text[])`,
    [stationIds],
  );
  return new Map(found.map(({ id, name }) => [id, name]));
}
