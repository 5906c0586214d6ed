import { Refusal } from "#cli/refusal.ts";
import { boundAddress, boundDomain } from "#src/keys/bindings.ts";
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

/** 0 for the general rules, 1 for none, or the devices needed (decisions.md 2). */
export function confirmMin(text: string): number {
  const value = integer("--confirm-min", 0, 1000)(text);
  if (value === 2) throw new Refusal("--confirm-min must be 0 (default rules), 1, or 3 or more");
  return value;
}

/** An option's value that may be null. Wrapped, because commander turns a parser's null into "". */
export interface Given<T> {
  value: T;
}

/** Seconds, or null for "default". */
export const cacheTtl = (text: string): Given<number | null> => ({
  value: text === "default" ? null : integer("--cache-ttl (seconds, or default)", 0, 3600)(text),
});

/** `a.example, Б.рф` → lower-case IDNA hosts. A scheme, a leading `*.` and a trailing dot are understood. */
export const domains = (text: string): string[] => [...new Set(listed(text).map(domain))];

function domain(entry: string): string {
  const normal = boundDomain(entry);
  if (normal === null) throw new Refusal(`"${entry}" in --domains is not a domain`);
  return normal;
}

/** Addresses and CIDR blocks, IPv4 and IPv6; an IPv4 address in IPv6 clothes is undressed. */
export const ips = (text: string): string[] => [...new Set(listed(text).map(addresses))];

function addresses(entry: string): string {
  const address = boundAddress(entry);
  if (address === null) throw new Refusal(`"${entry}" in --ips is not an address or CIDR block`);
  return address;
}

/** A UTC time or day in the future, or null for "never". */
export const expiry =
  (now: () => number) =>
  (text: string): Given<Date | null> => {
    if (text === "never") return { value: null };
    const at = parseTime(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text} 00:00:00` : text);
    if (at === null)
      throw new Refusal(
        `--expires must be "YYYY-MM-DD HH:MM:SS" in UTC, a day, or never, not "${text}"`,
      );
    if (at <= now()) throw new Refusal(`--expires ${text} is in the past`);
    return { value: new Date(at) };
  };

const listed = (text: string): string[] =>
  text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
