import { foldText } from "#src/contract/fold-text.ts";
import { distance } from "fastest-levenshtein";

/** Russian letters as Latin ones, in the way that most people write them. */
const latin: Record<string, string> = Object.fromEntries(
  (
    "а a|б b|в v|г g|д d|е e|ё e|ж zh|з z|и i|й i|к k|л l|м m|н n|о o|п p|р r|с s|т t|у u|ф f|х h|ц c|ч ch|" +
    "ш sh|щ sh|ъ |ы i|ь |э e|ю iu|я ia"
  )
    .split("|")
    .map((pair) => pair.split(" ") as [string, string]),
);

/** Several ways to write one sound, in this order. */
const alike: readonly [RegExp, string][] = [
  [/shch|sch/g, "sh"],
  [/kh/g, "h"],
  [/ts|tz/g, "c"],
  [/yo|jo/g, "e"],
  [/ph/g, "f"],
  [/x/g, "ks"],
  [/w/g, "v"],
  [/[yj]/g, "i"],
  [/(.)\1+/g, "$1"],
];

/** The word in Latin letters, one for one where that is possible: a typo in Russian is one here as well. */
function lettersOf(word: string): string {
  const letters = [...word.normalize("NFC").toLowerCase()].map((one) => latin[one] ?? one).join("");
  return foldText(letters).replaceAll(/[^\p{L}\p{N}]/gu, "");
}

/** The form by which words are compared: `Лукойл`, `lukoil` and `Lukoyl` have the same (decisions 15.30). */
export const soundOf = (word: string): string =>
  alike.reduce((text, [from, to]) => text.replaceAll(from, to), lettersOf(word));

/** Letters from which on a typo may be forgiven: shorter words are too often others. */
const typoFrom = 4;

/** How well a known word fits the typed text: 0 it begins with it, 1 with one typo, null not at all. */
export function fitOf(typed: string, known: string): 0 | 1 | null {
  const [asked, sound] = [soundOf(typed), soundOf(known)];
  if (asked === "" || sound === "") return null;
  if (sound.startsWith(asked)) return 0;
  // Letters are compared too: a typo may join two letters that sound like another one.
  return isNear(asked, sound) || isNear(lettersOf(typed), lettersOf(known)) ? 1 : null;
}

/** Whether the beginning of the known word differs by one typo. */
function isNear(asked: string, known: string): boolean {
  if (asked.length < typoFrom) return false;
  const lengths = [-1, 0, 1].map((more) => asked.length + more);
  return (
    lengths.some((length) => distance(asked, known.slice(0, length)) <= 1) ||
    isSwapped(asked, known.slice(0, asked.length))
  );
}

/** Two letters beside each other in the wrong order. */
function isSwapped(a: string, b: string): boolean {
  const at = [...a].findIndex((letter, i) => letter !== b[i]);
  return (
    at >= 0 && a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2)
  );
}

const wordsOf = (text: string): string[] => text.split(/[^\p{L}\p{N}]+/u).filter(Boolean);

/**
 * The text with each word as it is known, those without a typo first and then those that are known most often; null where
 * nothing is to be changed. A word that resembles no known one stays as it is.
 *
 * @param known texts such as names and brands; a word may come many times
 */
export function corrected(text: string, known: Iterable<string>): string | null {
  const counts = new Map<string, number>();
  for (const one of known)
    for (const word of wordsOf(one)) counts.set(word, (counts.get(word) ?? 0) + 1);
  const changed = wordsOf(text).map((word) => {
    const fitting = [...counts].flatMap(([other, count]) => {
      const fit = fitOf(word, other);
      return fit === null ? [] : [{ other, fit, count }];
    });
    const [best] = fitting.sort((a, b) => a.fit - b.fit || b.count - a.count);
    return best?.other ?? word;
  });
  const plain = changed.join(" ");
  return plain.toLowerCase() === wordsOf(text).join(" ").toLowerCase() ? null : plain;
}
