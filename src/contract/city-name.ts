import type { Language } from "#src/contract/language.ts";

/** A city for a reader of that language; `name` is as the country writes it. */
export const cityName = (language: Language, name: string): string =>
  language === "en" ? latinName(name) : name;

/** Cyrillic letters as road signs write them in Latin ones: those of Russian, then those that others have besides. */
const letters: Readonly<Record<string, string>> = Object.fromEntries(
  (
    "а a|б b|в v|г g|д d|е e|ё e|ж zh|з z|и i|й y|к k|л l|м m|н n|о o|п p|р r|с s|т t|у u|ф f|х kh|ц ts|" +
    "ч ch|ш sh|щ shch|ъ |ы y|ь |э e|ю yu|я ya|і i|ї i|є ye|ґ g|ў u|ђ dj|ј j|љ lj|њ nj|ћ c|џ dz|ѓ g|ќ k|ѕ dz|" +
    "ә a|ғ g|қ k|ң n|ө o|ұ u|ү u|һ h"
  )
    .split("|")
    .map((pair) => pair.split(" ") as [string, string]),
);

/** A name in Latin letters, as it stands on road signs: `Нижний Новгород` is `Nizhniy Novgorod`. */
export const latinName = (name: string): string =>
  name.replaceAll(/\p{Script=Cyrillic}/gu, (letter) => {
    const small = letters[letter.toLowerCase()] ?? letter;
    return letter === letter.toLowerCase() ? small : small.charAt(0).toUpperCase() + small.slice(1);
  });
