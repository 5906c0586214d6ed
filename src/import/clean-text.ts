/**
 * `value` as one line that a database, a JSON answer and a screen can all hold: NFC, no control or invisible
 * characters, no lone surrogates, single spaces, at most `maxLength` code points. Other values than text give "".
 */
export function cleanText(value: unknown, maxLength: number): string {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value !== "string" || value === "") return "";
  if (value.length <= maxLength && plain.test(value)) return value;
  const line = value
    .replace(loneSurrogates, "")
    .normalize("NFC")
    .replace(unseen, "")
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trim();
  return line.length <= maxLength ? line : [...line].slice(0, maxLength).join("").trimEnd();
}

// Most texts need nothing; looking takes a tenth of the time.
const plain = /^[!-~\u0410-\u044f]+( [!-~\u0410-\u044f]+)*$/;
const loneSurrogates = /\p{Cs}/gu;
// Soft hyphen, zero-width and direction marks, byte order mark: they make equal names different.
const unseen = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu;

/**
 * Words that mix Latin and Cyrillic letters of the same shape ("ТранcАЗС" with a Latin c), rewritten in the one
 * alphabet that their unmistakable letters belong to. Words of one alphabet, or truly of two ("ГАЗON"), stay.
 */
export const repairLookalikes = (text: string): string =>
  /\p{Script=Cyrillic}/u.test(text) && /\p{Script=Latin}/u.test(text)
    ? text.replace(/[\p{Script=Latin}\p{Script=Cyrillic}]+/gu, repairWord)
    : text;

const latin = "ABCEHKMOPTXYaceopxykm";
const cyrillic = "АВСЕНКМОРТХУасеорхукм";
const toCyrillic = new Map(
  [...latin].map((letter, index) => [letter, [...cyrillic][index] ?? letter]),
);
const toLatin = new Map([...toCyrillic].map(([from, to]) => [to, from]));

function repairWord(word: string): string {
  if (!/\p{Script=Latin}/u.test(word) || !/\p{Script=Cyrillic}/u.test(word)) return word;
  const letters = [...word];
  const surelyLatin = letters.some((one) => /\p{Script=Latin}/u.test(one) && !toCyrillic.has(one));
  const surelyCyrillic = letters.some(
    (one) => /\p{Script=Cyrillic}/u.test(one) && !toLatin.has(one),
  );
  if (surelyLatin && surelyCyrillic) return word;
  const map = surelyLatin ? toLatin : toCyrillic;
  return letters.map((one) => map.get(one) ?? one).join("");
}
