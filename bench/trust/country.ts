import type { Random } from "#demo/country/random.ts";
import { distanceM, type Point } from "#src/domain/geo.ts";
import { type Grade, grades } from "#src/domain/vocabulary.ts";

export interface Station extends Point {
  id: string;
  /** Index of its city. */
  city: number;
  /** What it sells when it has fuel. */
  grades: readonly Grade[];
}

/** Stations of three cities, and who is near whom. */
export interface Country {
  stations: readonly Station[];
  /** Indices of each city's stations. */
  cities: readonly (readonly number[])[];
  /** Ids of the stations within `radiusM` of a station, itself included, as the read model finds them. */
  within(station: number, radiusM: number): readonly string[];
}

/** Middle, radius in m, and share of the country's stations: distances between stations as in real cities. */
const places = [
  { lat: 56.84, lon: 60.61, radiusM: 14_000, share: 0.42 },
  { lat: 55.16, lon: 61.4, radiusM: 12_500, share: 0.36 },
  { lat: 53.2, lon: 50.15, radiusM: 10_000, share: 0.22 },
] as const;

const metresPerDegree = 111_195;

/** The point `eastM` and `northM` metres away; exact enough within a city. */
export const moved = (from: Point, eastM: number, northM: number): Point => ({
  lat: from.lat + northM / metresPerDegree,
  lon: from.lon + eastM / (metresPerDegree * Math.cos((from.lat * Math.PI) / 180)),
});

/** A point at most `radiusM` away, denser towards the middle. */
export function around(random: Random, centre: Point, radiusM: number): Point {
  const angle = random.between(0, 2 * Math.PI);
  const far = radiusM * random.next() ** 0.7;
  return moved(centre, far * Math.cos(angle), far * Math.sin(angle));
}

/** A point of the square around one of the cities, those with many stations more often. */
export const placeAroundCity = (random: Random): Point => {
  const { radiusM, ...centre } = random.weighted(places.map((place) => [place, place.share]));
  return moved(centre, random.between(-radiusM, radiusM), random.between(-radiusM, radiusM));
};

/** A country of `count` stations, the same for the same random numbers. */
export function makeCountry(random: Random, count: number): Country {
  const stations: Station[] = [];
  const cities = places.map(({ share, radiusM, ...centre }, city) => {
    const last = city === places.length - 1;
    const size = last ? count - stations.length : Math.round(count * share);
    return Array.from({ length: size }, () => {
      const sold = grades.filter((grade) => grade !== "100" || random.chance(0.3));
      const id = `n${10_000 + stations.length}`;
      return stations.push({ id, city, grades: sold, ...around(random, centre, radiusM) }) - 1;
    });
  });
  const found = new Map<string, readonly string[]>();
  const within = (station: number, radiusM: number): readonly string[] => {
    const key = `${station} ${radiusM}`;
    const known = found.get(key);
    if (known !== undefined) return known;
    const near = stations.filter((one) => distanceM(stations[station]!, one) <= radiusM);
    const ids = near.map(({ id }) => id);
    found.set(key, ids);
    return ids;
  };
  return { stations, cities, within };
}
