/**
 * Words that mix Latin and Cyrillic letters of the same shape ("ТранcАЗС" with a Latin c), rewritten in the one
 * alphabet that their unmistakable letters belong to. Words of one alphabet, or truly of two ("ГАЗON"), stay.
 */
export const repairLookalikes = (text: string): string =>
  text.replace(/[\p{Script=Latin}\p{Script=Cyrillic}]+/gu, repairWord);

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
