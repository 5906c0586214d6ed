import type { StoredCity } from "#src/import/read-cities.ts";
import type { Point } from "#src/domain/geo.ts";
import { degreeKm, nearKm } from "#src/marks/nearest-city.ts";

const bandsPerDegree = 4;

/**
 * Finds the id of the nearest city within 25 km, `""` where there is none: the rule of `nearestCity` in
 * src/marks/nearest-city.ts, for all stations at once.
 */
export function cityFinder(cities: readonly StoredCity[]): (place: Point) => string {
  const bands = new Map<number, StoredCity[]>();
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
