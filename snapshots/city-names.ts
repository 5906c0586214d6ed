import { latinName } from "#src/contract/city-name.ts";
import { foldText, smallText } from "#src/contract/fold-text.ts";

/** Short forms and foreign names that everybody knows, each of one city only, by the city's full name. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  "Санкт-Петербург": ["спб", "питер", "spb", "piter", "saint petersburg", "st. petersburg"],
  Москва: ["мск", "msk", "moscow"],
  Екатеринбург: ["екб", "екат", "ekb", "ekat"],
  Новосибирск: ["нск", "nsk"],
  "Нижний Новгород": ["нн", "н. новгород", "nn", "n. novgorod"],
  "Ростов-на-Дону": ["рнд", "rnd", "rostov-on-don"],
  "Набережные Челны": ["наб. челны"],
  Красноярск: ["крск", "krsk"],
  Краснодар: ["крд", "krd"],
  Челябинск: ["члб", "chlb"],
};

/** Without signs that people leave out or write in one of two ways. */
const bare = (text: string): string => text.replace(/[\s.\-–—'’ʼʹ]/gu, "");
const squash = (text: string): string => bare(foldText(text));

/** `ö` as `oe`: the other way to write such letters without them. */
const wide: Readonly<Record<string, string>> = { ä: "ae", ö: "oe", ü: "ue", ø: "oe", å: "aa" };
const widened = (text: string): string =>
  squash(smallText(text).replace(/[äöüøå]/g, (letter) => wide[letter]!));

/** The ways to write Russian in Latin letters, brought together: "ya", "ia" and "â" are one. In this order. */
const spellings: readonly (readonly [RegExp, string])[] = [
  [/ž/g, "zh"],
  [/č/g, "ch"],
  [/[šŝ]/g, "sh"],
  [/shch|sch/g, "sh"],
  [/kh/g, "h"],
  [/x/g, "ks"],
  [/t[sz]/g, "c"],
  [/w/g, "v"],
  [/q/g, "k"],
  [/[yj]/g, "i"],
  [/i+/g, "i"],
  [/i([aeu])/g, "$1"],
  [/io/g, "e"],
];

/** The same for one name in Cyrillic and in all spellings of it in Latin letters. */
function latinKey(text: string): string {
  let key = latinName(bare(smallText(text)));
  for (const [from, to] of spellings) key = key.replace(from, to);
  return foldText(key)
    .replace(/[^\p{L}\p{N}]/gu, "")
    .replace(/(.)i$/, "$1");
}

const isCyrillic = (text: string): boolean => /\p{Script=Cyrillic}/u.test(text);

/**
 * Finds a city by the names that people use (decisions 7.49): its name, else the name without hyphens, blanks and
 * accents, else a short form of it, else with `oe` for `ö`, else a Cyrillic name in Latin letters. A spelling that two
 * names share finds none of them. `cities`: the largest first, which stands for smaller ones of the same name.
 */
export function createCityFinder<City extends { name: string }>(
  cities: readonly City[],
): (text: string) => City | null {
  const byName = new Map<string, City>();
  for (const city of cities)
    if (!byName.has(smallText(city.name))) byName.set(smallText(city.name), city);
  const keyed = (
    keyOf: (name: string) => string,
    isMeant: (name: string) => boolean = () => true,
  ): Map<string, City | null> => {
    const found = new Map<string, City | null>();
    for (const city of byName.values()) {
      if (!isMeant(city.name)) continue;
      const key = keyOf(city.name);
      found.set(key, found.has(key) ? null : city);
    }
    return found;
  };
  const bySquashed = keyed(squash);
  const byWide = keyed(widened, (name) => widened(name) !== squash(name));
  // The rules are those of Russian: they would join Jena with Ena.
  const byLatin = keyed(latinKey, isCyrillic);
  const byShort = new Map<string, City>();
  for (const [name, shorts] of Object.entries(otherNames)) {
    const city = byName.get(smallText(name));
    if (city !== undefined) for (const short of shorts) byShort.set(squash(short), city);
  }
  return (text) => {
    const known = byName.get(smallText(text));
    if (known !== undefined) return known;
    const squashed = squash(text);
    if (squashed === "") return null;
    if (bySquashed.has(squashed)) return bySquashed.get(squashed)!;
    const near = byShort.get(squashed) ?? byWide.get(squashed);
    return near ?? (isCyrillic(text) ? null : (byLatin.get(latinKey(text)) ?? null));
  };
}
