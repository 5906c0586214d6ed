import type { Point } from "#src/domain/geo.ts";
import { type Db, rows } from "#src/infrastructure/db.ts";
import { degreeKm, nearKm } from "#src/marks/nearest-city.ts";

/** A city that stations may belong to. */
export interface InsightCity extends Point {
  id: string;
  name: string;
  region: string;
  population: number;
}

/** All such cities, the largest first. */
export const loadInsightCities = (db: Db): Promise<InsightCity[]> =>
  rows<InsightCity>(
    db,
    "select id, name, region, lat, lon, population from cities order by population desc, name, id",
  );

const bandsPerDegree = 4;

/**
 * Finds the id of the nearest city within 25 km, `""` where there is none: the rule of `nearestCity` in
 * src/marks/nearest-city.ts, for all stations at once.
 */
export function cityFinder(cities: readonly InsightCity[]): (place: Point) => string {
  const bands = new Map<number, InsightCity[]>();
  const bandOf = (lat: number): number => Math.floor(lat * bandsPerDegree);
  for (const city of cities)
    bands.set(bandOf(city.lat), [...(bands.get(bandOf(city.lat)) ?? []), city]);
  return ({ lat, lon }) => {
    let nearest = "";
    let nearestKm2 = nearKm * nearKm;
    const kmPerLon = degreeKm * Math.cos((lat * Math.PI) / 180);
    for (let band = bandOf(lat) - 1; band <= bandOf(lat) + 1; band += 1)
      for (const city of bands.get(band) ?? []) {
        const km2 = ((city.lat - lat) * degreeKm) ** 2 + ((city.lon - lon) * kmPerLon) ** 2;
        if (km2 <= nearestKm2) [nearest, nearestKm2] = [city.id, km2];
      }
    return nearest;
  };
}
