import { distanceM, type Point } from "#src/domain/geo.ts";
import { grouped } from "#src/infrastructure/lists.ts";
import { repairLookalikes } from "#src/import/clean-text.ts";

/**
 * The key by which brand spellings are compared: alphabet repaired, case, ё/е, quotes, spaces and hyphens ignored,
 * legal forms and words for "station" left out. "ГАЗПРОМ-нефть", "Газпром Нефть" → "газпромнефть".
 */
export function brandKey(text: string): string {
  return stripForms(repairLookalikes(text))
    .toLowerCase()
    .replaceAll("ё", "е")
    .replace(/[^\p{L}\p{N}&+]/gu, "");
}

/** The served spelling of a known brand in any of its spellings; undefined for other texts. */
export const knownBrand = (text: string): string | undefined => spellings.get(brandKey(text));

/** The known brand that a station's name begins with ("Shell Express Tarmola" → "Shell"). */
export function brandOfName(name: string): string | undefined {
  const words = stripForms(repairLookalikes(name)).split(/\s+/);
  for (const length of [3, 2, 1]) {
    const brand = words.length >= length ? knownBrand(words.slice(0, length).join(" ")) : undefined;
    if (brand !== undefined) return brand;
  }
  return undefined;
}

/** True for the words that mappers write when there is no brand. */
export const isNoBrand = (text: string): boolean => noBrands.has(brandKey(text));

/** A brand or firm without quotes and its legal form; "" for a sole trader, whose name is a person's. */
export function firmName(text: string): string {
  if (/^(ИП|индивидуальный предприниматель)\s/i.test(text)) return "";
  return stripForms(text).replace(/\s+/g, " ").trim();
}

const forms =
  /(?<![\p{L}\p{N}])(ООО|ОАО|ЗАО|ПАО|АО|ТД|НК|Общество с ограниченной ответственностью|АЗС|АЗК|МАЗС|АГЗС|LLC|Ltd|Oy|AB)(?![\p{L}\p{N}])/giu;

function stripForms(text: string): string {
  const bare = text
    .replace(/["'«»„“”`]/g, " ")
    .replace(/№\s*\d+/g, " ")
    .replace(forms, " ")
    .trim();
  return bare.replace(/^[\s,.-]+|[\s,-]+$/g, "");
}

/**
 * One line per brand: the served spelling, then others that the rules of `brandKey` do not already make equal.
 * Brands that are not here are spelled as most of their stations spell them.
 */
const table: readonly (readonly string[])[] = [
  ["Лукойл", "Lukoil"],
  ["Газпромнефть", "Gazpromneft", "Gazprom Neft"],
  ["Газпром", "Gazprom"],
  ["Роснефть", "Rosneft"],
  ["Татнефть", "Tatneft"],
  ["Башнефть", "Bashneft"],
  ["Сургутнефтегаз", "Surgutneftegas", "Surgutneftegaz"],
  ["Нефтьмагистраль", "Neftmagistral"],
  ["ТАИФ-НК", "ТАИФ", "TAIF-NK", "TAIF"],
  ["Teboil", "Тебойл"],
  ["Shell", "Шелл"],
  ["ТНК", "TNK"],
  ["BP", "British Petroleum"],
  ["Новатэк", "Новатек", "Novatek"],
  ["IRBIS", "Ирбис"],
  ["ПТК", "PTK"],
  ["Фаэтон", "Faeton"],
  ["Опти", "Opti"],
  ["Varta", "Варта"],
  ["RusOil", "Русойл"],
  ["GetPetrol"],
  ["Tamic Energy", "Tamik Energy", "Тамик Энерджи"],
  ["Эксон Ойл", "Эксон"],
  ["Neste", "Neste Oil"],
  ["St1"],
  ["SEO"],
  ["ABC"],
  ["Circle K"],
  ["OKQ8"],
  ["Preem"],
  ["Esso"],
  ["TotalEnergies", "Total"],
];

const spellings = new Map(
  table.flatMap((line) => line.map((spelling) => [brandKey(spelling), line[0] ?? ""] as const)),
);

const noBrands = new Set(
  [
    ...["", "independent", "unbranded", "none", "no", "yes", "unknown", "fixme", "нет"],
    ...["без бренда", "неизвестно", "частная", "заправка", "бензин", "агнкс", "газс"],
    ...["пропан", "метан", "газ"],
  ].map(brandKey),
);

const cityReachM = 50_000;

export interface Town extends Point {
  name: string;
}

/**
 * The spelling of each brand by its key: that of the `served` stations, so that imports agree with each other, else the
 * most frequent in the file. Among equal ones a spelling that is not all capitals wins, then the alphabet decides.
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
  const towns = grouped([...cities, ...stations.map(townOf)], ({ name }) => brandKey(name));
  return stations.map((station) => {
    const points = station.brand === "" ? [] : (towns.get(brandKey(station.brand)) ?? []);
    const isTown = points.some((point) => distanceM(point, station) <= cityReachM);
    return isTown ? { ...station, brand: "" } : station;
  });
}

const townOf = ({ city, lat, lon }: Point & { city: string }): Town => ({ name: city, lat, lon });
