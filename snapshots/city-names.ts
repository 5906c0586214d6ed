import { foldText } from "#snapshots/model/fragment.ts";

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

/** The text without signs that people leave out or write in one of two ways. */
const squash = (text: string): string => foldText(text).replace(/[\s.\-–—'’ʹ]/gu, "");

const letters: Readonly<Record<string, string>> = {
  ...{ а: "a", б: "b", в: "v", г: "g", д: "d", е: "e", ж: "zh", з: "z", и: "i", й: "i", к: "k" },
  ...{ л: "l", м: "m", н: "n", о: "o", п: "p", р: "r", с: "s", т: "t", у: "u", ф: "f", х: "kh" },
  ...{ ц: "ts", ч: "ch", ш: "sh", щ: "shch", ъ: "", ы: "y", ь: "", э: "e", ю: "yu", я: "ya" },
};
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
  [/[yj]/g, "i"],
  [/i+/g, "i"],
  [/i([aeu])/g, "$1"],
  [/io/g, "e"],
];

/** The same for one name in Cyrillic and in all spellings of it in Latin letters. */
function latinKey(text: string): string {
  let key = squash(text).replace(/[а-я]/g, (letter) => letters[letter] ?? "");
  for (const [from, to] of spellings) key = key.replace(from, to);
  return key
    .normalize("NFD")
    .replace(/[^a-z0-9]/g, "")
    .replace(/(.)i$/, "$1");
}

/**
 * Finds a city by the names that people use (decisions 7.49): its name, else the name without hyphens and blanks, else
 * a short form of it, else its name in Latin letters. A spelling that two names share finds none of them. `cities`: the
 * largest first, which stands for smaller ones of the same name.
 */
export function createCityFinder<City extends { name: string }>(
  cities: readonly City[],
): (text: string) => City | null {
  const byName = new Map<string, City>();
  for (const city of cities)
    if (!byName.has(foldText(city.name))) byName.set(foldText(city.name), city);
  const keyed = (keyOf: (name: string) => string): Map<string, City | null> => {
    const found = new Map<string, City | null>();
    for (const city of byName.values()) {
      const key = keyOf(city.name);
      found.set(key, found.has(key) ? null : city);
    }
    return found;
  };
  const bySquashed = keyed(squash);
  const byLatin = keyed(latinKey);
  const byShort = new Map<string, City>();
  for (const [name, shorts] of Object.entries(otherNames)) {
    const city = byName.get(foldText(name));
    if (city !== undefined) for (const short of shorts) byShort.set(squash(short), city);
  }
  return (text) => {
    const known = byName.get(foldText(text));
    if (known !== undefined) return known;
    const squashed = squash(text);
    if (squashed === "") return null;
    const near = bySquashed.get(squashed) ?? byShort.get(squashed);
    if (near !== undefined || bySquashed.has(squashed)) return near ?? null;
    return /\p{Script=Cyrillic}/u.test(text) ? null : (byLatin.get(latinKey(text)) ?? null);
  };
}
