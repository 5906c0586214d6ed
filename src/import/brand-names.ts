import { distanceM, type Point } from "#src/domain/geo.ts";
import { grouped, remembered } from "#src/infrastructure/lists.ts";
import { brandKey, withoutForms } from "#src/import/brand-key.ts";
import { brandsOfKey, genericNames, type ListedBrand, noBrands } from "#src/import/brand-list.ts";
import { repairLookalikes } from "#src/import/clean-text.ts";
import { isPartOf, territoriesOf } from "#src/stations/territories.ts";

/** The spelling that is served for a brand in any of its spellings, where the station is; undefined for other texts. */
export type KnownBrand = (text: string, at: Point) => string | undefined;

/**
 * The known brands of an import: those of the operator's aliases (key → spelling), then those of the list, in `country`
 * (ISO), where its description names one.
 */
export const knownBrands =
  (aliases: ReadonlyMap<string, string>, country?: string): KnownBrand =>
  (text, at) => {
    const key = brandKey(text);
    return aliases.get(key) ?? listedBrand(key, at, country)?.name;
  };

/**
 * The listed brand that has this key in the territory of a station, else in its country; before both in the country of its
 * source, where a border is coarse.
 */
export function listedBrand(key: string, at: Point, country?: string): ListedBrand | undefined {
  const found = brandsOfKey(key);
  if (found.length === 0) return undefined;
  const here = territoriesOf(at);
  const soldIn = (land: string, all: readonly string[]) =>
    found.find(
      ({ in: some, not }) =>
        (some === undefined || hasCountry(some, land)) &&
        !all.some((one) => not && hasCountry(not, one)),
    );
  if (country !== undefined && !here.includes(country)) {
    const ofSource = soldIn(country, [country]);
    if (ofSource !== undefined) return ofSource;
  } else if (here.length === 0) return found[0];
  return here.map((land) => soldIn(land, here)).find((brand) => brand !== undefined);
}

/** Only continents need the library: it takes microseconds for each code. */
const hasCountry = (codes: string, country: string): boolean =>
  codes
    .split(" ")
    .some((code) => code === country || (/^\d/.test(code) && isPartOf(country, code)));

/** The known brand that a station's name begins with ("Shell Express Tarmola" → "Shell"). */
export function brandOfName(name: string, at: Point, known: KnownBrand): string | undefined {
  const words = withoutForms(repairLookalikes(name)).split(/\s+/);
  for (const length of [3, 2, 1]) {
    const brand = words.length >= length ? known(words.slice(0, length).join(" "), at) : undefined;
    if (brand) return brand;
  }
  return undefined;
}

/** True for the words that people write when there is no brand, unless a brand of the country is called so. */
export function isNoBrand(text: string, at: Point, country?: string): boolean {
  const key = brandKey(text);
  return noBrands.has(key) || (isGeneric(text) && listedBrand(key, at, country) === undefined);
}

const isGeneric = remembered((text) => genericNames.some((one) => one.test(text.trim())));

const cityReachM = 50_000;

export interface Town extends Point {
  name: string;
}

/**
 * The spelling of each brand by its key: that of the `served` stations that the file leaves as they are, so that imports
 * agree with each other and the same file gives the same again; else the most frequent in the file. Among equal ones a
 * spelling that is not all capitals wins, then the alphabet decides.
 */
export function brandSpellings(
  served: readonly { brand: string; count: number }[],
  imported: readonly { brand: string }[],
): Map<string, string> {
  const counts = new Map<string, number>();
  for (const { brand } of imported)
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

/** The stations, without brands that are only the name of their town. */
export function withoutTownBrands<Station extends Point & { brand: string; city: string }>(
  stations: readonly Station[],
  cities: readonly Town[],
): Station[] {
  const brands = new Set(stations.map(({ brand }) => brandKey(brand)));
  const isNamed = (town: string): boolean => brands.has(brandKey(town));
  // Nearly no town has a brand's name.
  const named = stations.filter(({ city }) => isNamed(city)).map(townOf);
  const towns = grouped([...cities, ...named], ({ name }) => brandKey(name));
  return stations.map((station) => {
    const points = station.brand === "" ? [] : (towns.get(brandKey(station.brand)) ?? []);
    const isTown = points.some((point) => distanceM(point, station) <= cityReachM);
    return isTown ? { ...station, brand: "" } : station;
  });
}

const townOf = ({ city, lat, lon }: Point & { city: string }): Town => ({ name: city, lat, lon });
