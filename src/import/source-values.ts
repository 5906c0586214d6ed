import { isRecord } from "#src/import/json-items.ts";
import { readNumber } from "#src/import/number-text.ts";
import type { Condition, Conversions, Value } from "#src/import/source.ts";
import { remembered } from "#src/infrastructure/lists.ts";

/** The value of a record at `path`: a key as it is, else keys with dots between them; through a list, all that it has. */
export function valueAt(record: unknown, path: string): unknown {
  if (isRecord(record) && Object.hasOwn(record, path)) return record[path];
  let at = record;
  for (const part of path.split(".")) {
    if (Array.isArray(at) && !/^\d+$/.test(part)) {
      const all = at.flatMap((one) => valueAt(one, part) ?? []);
      at = all.length > 1 ? all : all[0];
    } else
      at = isRecord(at) || Array.isArray(at) ? (at as Record<string, unknown>)[part] : undefined;
  }
  return at;
}

/** The names in a list at `path`, or in a text with commas, semicolons or bars. */
export function namesAt(record: unknown, path: string): string[] {
  const found = valueAt(record, path);
  const names = Array.isArray(found)
    ? found.map((one) => textOf(one) || String(one))
    : textOf(found).split(/[,;|]/);
  return names.map((name) => name.trim()).filter((name) => name !== "");
}

/**
 * The rows of a record that `path` is read of: the entries at `rows`, of which one that is in no list, as XML has it, is a
 * list of one; without `rows` the record. Where `path` leads through a list, each entry of that list is a row.
 */
export function rowsOf(record: unknown, rows: string | undefined, path: string): unknown[] {
  const found = rows === undefined ? record : valueAt(record, rows);
  // A row of a table, of which there are many.
  if (isRecord(found) && typeof found[path] === "string") return [found];
  return [found ?? []].flat().flatMap((row) => unfolded(row, path));
}

function unfolded(row: unknown, path: string): unknown[] {
  if (!isRecord(row)) return [row];
  const [part = "", ...rest] = Object.hasOwn(row, path) ? [path] : path.split(".");
  const [inner, below] = [row[part], rest.join(".")];
  if (/^\d/.test(below) || (below === "" && !Array.isArray(inner))) return [row];
  const entries = [inner].flat().flatMap((one) => (below === "" ? [one] : unfolded(one, below)));
  return entries.map((one) => ({ ...row, [part]: one }));
}

/** The first path of a value. */
export const pathOf = (from: Value): string =>
  typeof from === "string" ? from : ([from.from ?? ""].flat()[0] ?? "");

/** The text that `from` describes in a record, "" for none. */
export function textFrom(record: unknown, from: Value): string {
  if (typeof from === "string") return textOf(valueAt(record, from));
  let text = begin(record, from);
  const { split, part, lookup, otherwise, words } = from;
  if (split !== undefined) text = text.split(split.by)[split.take]?.trim() ?? "";
  if (part !== undefined) text = addressPart(text, part);
  if (lookup !== undefined)
    text = Object.hasOwn(lookup, text) ? lookup[text]! : (otherwise ?? text);
  if (words !== undefined) text = withWords(text, words);
  return text;
}

/** The number that `from` describes, such as degrees; null for a text that is no number, or is unclear. */
export function numberFrom(record: unknown, from: Value): number | null {
  const text = textFrom(record, from);
  const { scale = 1, decimal } = typeof from === "string" ? {} : from;
  // Degrees have no thousands, but a number that is scaled may have them.
  const isUnclear = scale !== 1 && decimal === undefined && /^\D?\d{1,3},\d{3}$/.test(text);
  const number = isUnclear ? null : readNumber(text);
  // A product such as 519791 * 0.00001 has a long tail of digits that nobody wrote.
  return number === null ? null : Number((number * scale).toPrecision(15));
}

/** True if the record has one of the condition's texts. */
export const isMet = (record: unknown, { value, is }: Condition): boolean => {
  const text = textFrom(record, value);
  return is.some((pattern) => [text, ...text.split(";")].some((one) => matches(pattern, one)));
};

const regexOf = remembered((pattern) => {
  const parts = plain(pattern).split("*");
  const quoted = parts.map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return new RegExp(`^${quoted.join(".*")}$`, "u");
});

/** Compares regardless of case and of double spaces; `*` stands for any letters. */
export const matches = (pattern: string, text: string): boolean =>
  regexOf(pattern).test(plain(text));

const plain = (text: string): string => text.trim().replace(/\s+/g, " ").toLowerCase();

function begin(record: unknown, { from, constant, template }: Conversions): string {
  if (constant !== undefined) return constant;
  if (template !== undefined) return filled(record, template);
  for (const path of from === undefined ? [] : [from].flat()) {
    const text = textOf(valueAt(record, path));
    if (text !== "") return text;
  }
  return "";
}

/** A value as a text; that of a list has its different texts with semicolons between them. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value.trim();
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (Array.isArray(value))
    return [...new Set(value.map(textOf))].filter((text) => text !== "").join(";");
  return isRecord(value) && typeof value["#text"] === "string" ? value["#text"].trim() : "";
}

/** "{street} {number}, {town}": without a town, the comma goes too. */
const filled = (record: unknown, template: string): string =>
  template
    .split(",")
    .map((part) => {
      let has = !part.includes("{");
      const text = part.replace(/\{([^{}]+)\}/g, (_, path: string) => {
        const value = textOf(valueAt(record, path));
        has ||= value !== "";
        return value;
      });
      return has ? text.replace(/\s+/g, " ").trim() : "";
    })
    .filter((part) => part !== "")
    .join(", ");

function withWords(text: string, words: Readonly<Record<string, string>>): string {
  const longest = Object.keys(words).sort((a, b) => b.length - a.length);
  const any = longest.map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join("|");
  return text.replace(new RegExp(`(?<!\\p{L})(?:${any})(?!\\p{L})`, "gu"), (word) => words[word]!);
}

const postcode = /\b(?:[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|\d{4}-\d{3}|\d{5,6}|\d{4})\b/;
const numberBehind = /[\s,]+(?:n[°º.]?\s*)?(\d+(?:\s?[/-]?\s?\p{L})?(?:[/-]\d+)?)$/iu;
const numberBefore = /^(\d+(?:\s?(?:bis|ter|[a-z]))?(?:[/-]\d+)?)[\s,]+(?=\p{L})/iu;

/** A part of "Via Roma 5, 00100 Roma" or of "12 bis rue de Paris, 75001 Paris"; "" where it has none. */
function addressPart(text: string, part: NonNullable<Conversions["part"]>): string {
  const pieces = text
    .split(",")
    .map((piece) => piece.trim())
    .filter((piece) => piece !== "");
  if (part === "postcode") return postcode.exec(pieces.at(-1) ?? "")?.[0] ?? "";
  if (part === "town")
    return (
      pieces
        .slice(1)
        .map((piece) => piece.replace(postcode, "").replace(/\s+/g, " ").trim())
        .findLast((piece) => piece !== "") ?? ""
    );
  const [first = "", second = ""] = pieces;
  const line =
    pieces.length > 1 && /^\d+\s?[/-]?\p{L}?$/u.test(second) ? `${first} ${second}` : first;
  const number = numberBehind.exec(line) ?? numberBefore.exec(line);
  if (part === "number") return number?.[1] ?? "";
  return number === null ? line : line.replace(number[0], "").trim();
}
