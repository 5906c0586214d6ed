import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { projectRoot } from "#src/infrastructure/project-root.ts";
import type { ListedBrand } from "#src/import/brand-list.ts";

// npm run brands: writes src/import/brands.json anew from the newest name-suggestion-index 8. The package has 95 MB, so
// it is fetched into a folder of this run, and is no dependency.

interface Item {
  locationSet: { include: (string | number[])[]; exclude?: (string | number[])[] };
  matchNames?: string[];
  tags: Record<string, string>;
}
interface Index {
  _meta: { version: string };
  nsi: Record<string, { items: Item[]; properties: { exclude: Record<string, string[]> } }>;
}

const fold = (text: string): string =>
  text
    .normalize("NFC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, "");

/** Places whose codes do not begin with their country's. */
const parts: Record<string, string> = { fx: "FR", sba: "CY", "northern cyprus": "CY" };

/** ISO codes of countries and UN codes of continents, upper case; parts of a country stand for all of it. */
function countries(places: Item["locationSet"]["include"] = []): string | undefined {
  const codes = places.map((place) => {
    if (typeof place !== "string") throw new Error(`a place that is no code: ${place.join()}`);
    if (parts[place] !== undefined) return parts[place];
    if (!/^([a-z]{2}|\d{3})(-|$)/.test(place)) throw new Error(`an unknown place: ${place}`);
    return place.split("-")[0]!.toUpperCase();
  });
  const some = [...new Set(codes)].sort();
  return some.length === 0 || some.includes("001") ? undefined : some.join(" ");
}

/** A brand of the index with its spellings; those that differ in case, spaces and signs alone count once. */
function listed({ locationSet, matchNames = [], tags }: Item): ListedBrand {
  const name = tags["brand"]!;
  const inOtherWords = Object.keys(tags).filter((tag) => /^(brand|name):(?!wiki)/.test(tag));
  // The name may be a shop's ("Truck Stop" of the brand Engen): it is a spelling when it begins as the brand does.
  const names = [tags["name"] ?? ""].filter((one) => fold(one).startsWith(fold(name)));
  const spellings = [...names, ...inOtherWords.map((tag) => tags[tag]!), ...matchNames];
  const seen = new Set([fold(name), ""]);
  const also = spellings.filter((one) => !seen.has(fold(one)) && seen.add(fold(one)));
  const where = countries(locationSet.include);
  // A part of a country that is left out is no country without the brand.
  const not = countries(locationSet.exclude?.filter((place) => !/-/.test(String(place))));
  return {
    name,
    ...(tags["brand:wikidata"] === undefined ? {} : { wikidata: tags["brand:wikidata"] }),
    ...(also.length === 0 ? {} : { also }),
    ...(where === undefined ? {} : { in: where }),
    ...(not === undefined ? {} : { not }),
  };
}

function fetched(): Index {
  const folder = mkdtempSync(join(tmpdir(), "brands-"));
  try {
    execFileSync("npm", ["pack", "--silent", "name-suggestion-index@8"], { cwd: folder });
    const [packed] = readdirSync(folder);
    const member = "package/dist/json/nsi.min.json";
    execFileSync("tar", ["-xzf", packed!, member], { cwd: folder });
    return JSON.parse(readFileSync(join(folder, member), "utf8")) as Index;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const index = fetched();
const { items, properties } = index.nsi["brands/amenity/fuel"]!;
const byName = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const brands = items
  .map((item) => JSON.stringify(listed(item)))
  .sort(byName)
  .filter((line, at, all) => line !== all[at - 1]);
const words = Object.values(properties.exclude).flat();
writeFileSync(
  join(projectRoot, "src/import/brands.json"),
  `{
  "source": ${JSON.stringify(`name-suggestion-index ${index._meta.version}, BSD-3-Clause`)},
  "generic": ${JSON.stringify(words)},
  "brands": [
    ${brands.join(",\n    ")}
  ]
}
`,
);
console.log(`${brands.length} brands of name-suggestion-index ${index._meta.version}`);
