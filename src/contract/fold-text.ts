/** Letters that no accent can be taken from, as people write them who lack them; a word's last sigma; apostrophes. */
const plain: Readonly<Record<string, string>> = {
  ...{ ł: "l", ø: "o", ß: "ss", đ: "d", ð: "d", þ: "th", æ: "ae", œ: "oe", ı: "i", ħ: "h", ŧ: "t" },
  ...{ ŋ: "n", ŀ: "l", ĸ: "k", ĳ: "ij", ſ: "s", ə: "e", ς: "σ", ɖ: "d", ɓ: "b", ɗ: "d", ƙ: "k" },
  ...{ ƴ: "y", ɛ: "e", ɔ: "o", ȷ: "j", ŉ: "'n", և: "եվ", "’": "'", "‘": "'", ʼ: "'", ʻ: "'" },
};
const special = new RegExp(`[${Object.keys(plain).join("")}]`, "gu");
/** Nearly all texts, which need no second look. */
const usual = /^[ -~\u0400-\u045f№«»–—]*$/;

/** Text as names are compared in it: small letters, ё is е, one blank between words. */
export const smallText = (text: string): string =>
  text.normalize("NFC").toLowerCase().replaceAll("ё", "е").replace(/\s+/g, " ").trim();

/**
 * The same without what people leave out who type a name of another language: accents of Latin and Greek letters, and ł,
 * ø, ß and the like. No letter is dropped. Texts are searched in this form (decisions 7.54).
 */
export function foldText(text: string): string {
  const small = smallText(text);
  if (usual.test(small)) return small;
  return small
    .normalize("NFD")
    .replace(/(?<=[\p{Script=Latin}\p{Script=Greek}])\p{M}+/gu, "")
    .normalize("NFC")
    .replace(special, (letter) => plain[letter]!);
}
