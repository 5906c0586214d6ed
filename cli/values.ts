import { Refusal } from "#cli/refusal.ts";
import { parseTime } from "#src/domain/time.ts";

/** What an operator typed as a whole number from `min` to `max`. Refuses anything else, as all of these do. */
export const integer =
  (what: string, min: number, max: number) =>
  (text: string): number => {
    const value = Number(text);
    if (!/^\d{1,15}$/.test(text) || value < min || value > max) {
      throw new Refusal(`${what} must be a whole number from ${min} to ${max}, not "${text}"`);
    }
    return value;
  };

export const id = (what: string) => integer(`the ${what}'s id`, 1, 2_147_483_647);

/** A mark's id, as `report_id` shows it. */
export const markId = integer("the mark's id", 1, 999_999_999_999_999);

/** A station's id; whether there is such a station is found out later. */
export const stationIdAs =
  (what: string) =>
  (text: string): string => {
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(text))
      throw new Refusal(`${what} must be a station's id, not "${text}"`);
    return text;
  };
export const stationId = stationIdAs("--station");

/** A decimal number from `-most` to `most`: degrees. */
export const degrees =
  (what: string, most: number) =>
  (text: string): number => {
    const value = Number(text);
    if (!/^[-+]?\d{1,3}(\.\d{1,15})?$/.test(text) || Math.abs(value) > most)
      throw new Refusal(`${what} must be a number from -${most} to ${most}, not "${text}"`);
    return value;
  };

/** How many lines of a list are shown. */
export const listLimit = integer("--limit", 1, 100_000);

/** A UTC time, or a day for its beginning, in ms. */
export const moment =
  (what: string) =>
  (text: string): number => {
    const at = parseTime(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text} 00:00:00` : text);
    if (at === null)
      throw new Refusal(`${what} must be "YYYY-MM-DD HH:MM:SS" in UTC, or a day, not "${text}"`);
    return at;
  };

export const flag =
  (what: string) =>
  (text: string): boolean => {
    if (text !== "true" && text !== "false")
      throw new Refusal(`${what} must be true or false, not "${text}"`);
    return text === "true";
  };

export const choice =
  <const T extends string>(what: string, words: readonly T[]) =>
  (text: string): T => {
    const found = words.find((word) => word === text);
    if (found === undefined)
      throw new Refusal(`${what} must be one of ${words.join(", ")}, not "${text}"`);
    return found;
  };

/** This word, or what `parse` takes. A word, because commander turns a parser's null into "". */
export const wordOr =
  <const Word extends string, T>(word: Word, parse: (text: string) => T) =>
  (text: string): Word | T =>
    text === word ? word : parse(text);

export const line =
  (what: string, maxLength: number, empty: "may be empty" | "not empty") =>
  (text: string): string => {
    const trimmed = text.trim();
    if (trimmed === "" && empty === "not empty") throw new Refusal(`${what} must not be empty`);
    if ([...trimmed].length > maxLength)
      throw new Refusal(`${what} must have at most ${maxLength} characters`);
    if (/\p{C}/u.test(trimmed))
      throw new Refusal(`${what} must not contain control or invisible characters`);
    return trimmed;
  };

/** The name under which imported rows are kept; it also makes ids. */
export function sourceName(text: string): string {
  const name = line("--source", 40, "not empty")(text);
  if (!/^[A-Za-z0-9_-]+$/.test(name))
    throw new Refusal("--source must contain only letters a-z, digits, - and _");
  return name;
}

/** `a, b` → its entries; "" for none. */
export const entries = (text: string): string[] =>
  text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
