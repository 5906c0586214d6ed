/**
 * `value` as one line that a database, a JSON answer and a screen can all hold: NFC, no control or invisible
 * characters, no lone surrogates, single spaces, at most `maxLength` code points. Anything but text gives "".
 */
export function cleanText(value: unknown, maxLength: number): string {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value !== "string") return "";
  const line = value
    .replace(loneSurrogates, "")
    .normalize("NFC")
    .replace(unseen, "")
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trim();
  return line.length <= maxLength ? line : [...line].slice(0, maxLength).join("").trimEnd();
}

const loneSurrogates = /\p{Cs}/gu;
// Soft hyphen, zero-width and direction marks, byte order mark: they make equal names unequal.
const unseen = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu;
