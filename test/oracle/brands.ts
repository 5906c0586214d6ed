import { readFileSync } from "node:fs";
import { brandKey } from "#src/import/brand-key.ts";

interface Entry {
  name: string;
  wikidata?: string;
  also?: string[];
}

const entries = ["own-brands.json", "brands.json"].flatMap((file) => {
  const text = readFileSync(new URL(`../../src/import/${file}`, import.meta.url), "utf8");
  return (JSON.parse(text) as { brands: Entry[] }).brands;
});

const known = new Map<string, string>();

/** True when both texts are spellings of one brand: equal but for case, or by the lists. */
export const isBrand = (brand: string, wanted: string): boolean => {
  const [one, other] = [brand, wanted].map((text) => text.normalize("NFC").trim().toLowerCase());
  return one === other || (meant(one!) !== "" && meant(one!) === meant(other!));
};

function meant(text: string): string {
  if (!known.has(text)) known.set(text, find(brandKey(text)));
  return known.get(text)!;
}

function find(key: string): string {
  if (key === "") return "";
  const named = entries.filter(({ name }) => brandKey(name) === key);
  const found =
    named.length > 0
      ? named
      : entries.filter(({ also = [] }) => also.some((one) => brandKey(one) === key));
  const items = new Set(found.flatMap(({ wikidata }) => wikidata ?? []));
  const names = new Set(found.map(({ name }) => brandKey(name)));
  const [only, second] = items.size > 0 ? items : names;
  return only !== undefined && second === undefined ? only : key;
}
