import own from "#src/import/own-brands.json" with { type: "json" };
import list from "#src/import/brands.json" with { type: "json" };
import { brandKey } from "#src/import/brand-key.ts";
import { grouped } from "#src/infrastructure/lists.ts";

/** A brand as it is spelled in some countries. */
export interface ListedBrand {
  /** The spelling that is served. */
  name: string;
  /** The same for all spellings of a brand, in all countries. */
  wikidata?: string;
  /** Other spellings. */
  also?: readonly string[];
  /** Countries (ISO) and continents (UN M49) that have it, and countries that do not; absent: all. */
  in?: string;
  not?: string;
}

/** Those of `own-brands.json` come first: spellings that the list lacks, and brands that are served otherwise here. */
const brands: readonly ListedBrand[] = [...own.brands, ...list.brands];

/** The keys of words that say that there is no brand. */
export const noBrands: ReadonlySet<string> = new Set(own.none.flat().map(brandKey));
/** Words that say so where no brand is called so: "Posto" is Portuguese for "station". */
export const genericNames: readonly RegExp[] = list.generic.map((one) => new RegExp(one, "iu"));

/** Changes when the list from outside does. */
export const listVersion = list.source;

/** The listed brands that have this key: as their name first, then as another spelling, then in other countries. */
export const brandsOfKey = (key: string): readonly ListedBrand[] => listed().get(key)?.brands ?? [];

/**
 * The same text for the keys of all spellings of one brand. The name of several brands, in different countries, and a
 * key that is not listed stand for themselves.
 */
export const brandOfKey = (key: string): string => listed().get(key)?.brand ?? key;

interface Listed {
  brand: string;
  brands: readonly ListedBrand[];
}

let made: ReadonlyMap<string, Listed> | undefined;

/** Each spelling's brands by its key. Made when it is needed: most commands ask nothing. */
function listed(): ReadonlyMap<string, Listed> {
  if (made !== undefined) return made;
  const spellings = (of: (brand: ListedBrand) => readonly string[]) =>
    brands.flatMap((brand) => of(brand).map((text) => ({ key: brandKey(text), brand })));
  const names = grouped(
    spellings(({ name }) => [name]),
    ({ key }) => key,
  );
  const others = grouped(
    spellings(({ also = [] }) => also),
    ({ key }) => key,
  );
  const elsewhere = grouped(brands, ({ wikidata }) => wikidata);
  const of = (key: string): Listed => {
    const [named = [], also = []] = [names.get(key), others.get(key)].map((some) =>
      some?.map(({ brand }) => brand),
    );
    const meant = named.length > 0 ? named : also;
    const known = new Set(meant.flatMap(({ wikidata = [] }) => wikidata));
    const identities = known.size > 0 ? known : new Set(meant.map(({ name }) => brandKey(name)));
    const brand = identities.size === 1 ? [...identities][0]! : key;
    return { brand, brands: [...named, ...also, ...(elsewhere.get(brand) ?? [])] };
  };
  made = new Map([...names.keys(), ...others.keys()].map((key) => [key, of(key)]));
  return made;
}
