import { distanceM, type Point } from "#src/domain/geo.ts";
import { brandKey } from "#src/import/brand-names.ts";
import type { ImportedStation } from "#src/import/osm-station.ts";

const cityReachM = 50_000;

export interface Named extends Point {
  name: string;
}

/**
 * The spelling of each brand by its key: the one that `served` stations already have, so that imports agree with each
 * other, else the most frequent of the file; ties go to the one that is not all capitals, then by alphabet.
 */
export function brandSpellings(
  served: readonly { brand: string; count: number }[],
  candidates: readonly ImportedStation[],
): Map<string, string> {
  const counts = new Map<string, number>();
  for (const { brand } of candidates)
    if (brand !== "") counts.set(brand, (counts.get(brand) ?? 0) + 1);
  const ofFile = [...counts].map(([brand, count]) => ({ brand, count }));
  return new Map([...mostFrequent(ofFile), ...mostFrequent(served)]);
}

function mostFrequent(spellings: readonly { brand: string; count: number }[]): Map<string, string> {
  const shouts = (text: string): number => (text === text.toUpperCase() ? 1 : 0);
  const rarestFirst = [...spellings].sort(
    (a, b) =>
      a.count - b.count || shouts(b.brand) - shouts(a.brand) || (a.brand < b.brand ? 1 : -1),
  );
  const chosen = new Map(rarestFirst.map(({ brand }) => [brandKey(brand), brand]));
  chosen.delete("");
  return chosen;
}

/** The candidates, with a brand that is only the name of the town they stand in taken away. */
export function withoutTownBrands(
  candidates: readonly ImportedStation[],
  cities: readonly Named[],
): ImportedStation[] {
  const towns = new Map<string, Point[]>();
  const known = [...cities, ...candidates.map(({ city, lat, lon }) => ({ name: city, lat, lon }))];
  for (const { name, lat, lon } of known) {
    const key = brandKey(name);
    const places = towns.get(key);
    if (places === undefined) towns.set(key, [{ lat, lon }]);
    else places.push({ lat, lon });
  }
  return candidates.map((one) => {
    const places = one.brand === "" ? [] : (towns.get(brandKey(one.brand)) ?? []);
    return places.some((place) => distanceM(place, one) <= cityReachM)
      ? { ...one, brand: "" }
      : one;
  });
}
