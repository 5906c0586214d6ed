const plain = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i;
const lone = /^\d*[.,]\d+$|^\d+[.,]?$/;
// "1.548.000,50", "1'548.50", and "1,23,456.78" of India.
const grouped = /^(\d{1,3}([.,' ])(?:\d{3}\2)*\d{3}|\d\d?(?:,\d\d)+,\d{3})(?:([.,])\d+)?$/;

/**
 * The number that a text is, in any of the usual spellings ("1.548,00", "−33,45°"); null for any other text. A lone
 * point or comma is the decimal one (decisions 14.53).
 */
export function readNumber(text: string): number | null {
  const written = plain.test(text) ? text : inAscii(text).replace(/ ?°$|(?<=^[-+]) /g, "");
  const digits = written.replace(/^[-+]/, "");
  const [, whole = "", group = ",", decimal] = grouped.exec(digits) ?? [];
  const isGrouped = whole !== "" && decimal !== group && !lone.test(digits);
  const clear = (isGrouped ? written.replaceAll(group, "") : written).replace(",", ".");
  const number = plain.test(clear) ? Number(clear) : Number.NaN;
  return Number.isFinite(number) ? number : null;
}

const yes = /^(?:y|yes|t|true|on|x|✓|✔|да|s|si|sí|sì|sim|oui|j|ja|tak|ano|áno|da|evet)$/iu;
const no = /^(?:n|no|f|false|off|нет|non|não|nao|nein|nee|nej|nie|ne|hayır)$/iu;
// "$ 1548", "US$1.50", "CLP 1548", "Rs. 96,72", "S/ 15.49", "Q32.99"; behind it "1548 CLP/L", "1,799 €/l", "45,-".
const price =
  /^([-+]?) ?(?:[A-Z]{3}|Q(?=\d)|\p{L}{1,4}[./ ]+|\p{L}{0,3}\p{Sc})? ?([-+]?[\d.,' ]*\d)(?:[.,]-+)? ?(?:[\p{L}\p{Sc}/][^\d]*)?$/u;

/**
 * What a fuel's price, or a yes or no, says of its sale; of a list, any yes. Null for a text that is neither, for a price
 * below 0 and for what stands in place of one: 0.01, and four nines or more.
 */
export function isSold(text: string): boolean | null {
  if (text === "") return false;
  const all = text.includes(";") ? text.split(";").map((one) => isSold(one.trim())) : [];
  if (all.length > 0) return all.includes(true) || (all.includes(null) ? null : false);
  const words = plain.test(text) ? "" : inAscii(text);
  if (yes.test(words) || no.test(words)) return yes.test(words);
  const [, sign = "", digits = ""] = words === "" ? ["", "", text] : (price.exec(words) ?? []);
  const number = readNumber(words) ?? readNumber(sign + digits);
  if (number === 0) return false;
  return number === null || number <= 0.01 || /^(9\.?){4,}$/.test(String(number)) ? null : true;
}

/** With one kind of digits, spaces, apostrophes and minus. A raised 2 is a footnote, no digit. */
const inAscii = (text: string): string =>
  text
    .replace(/\p{No}/gu, "#")
    .replace(/[’‘ʼ´`٬]/g, "'")
    .replace(/[‐-―−]/g, "-")
    .normalize("NFKC")
    .replace(/٫/g, ".")
    .replace(/[٠-٩۰-۹๐-๙]/g, (digit) => String(digit.charCodeAt(0) & 15))
    .replace(/[०-९০-৯]/g, (digit) => String((digit.charCodeAt(0) - 6) & 15))
    .replace(/\s+/g, " ")
    .trim();
