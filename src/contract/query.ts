import { type Fault, type Refusal, refuse } from "#src/contract/refusals.ts";
import { createSpelling, misspelt } from "#src/contract/spelling.ts";

/** The type of a query parameter. Any other type is read as a string. */
export type QueryType = "string" | "integer" | "number" | "boolean";

export type QueryValues = Record<string, string | number | boolean>;

interface ParsedQuery {
  values: QueryValues;
  /** Null when there are none. */
  faults: Fault[] | null;
  /** Names of parameters that were ignored, each once. */
  ignored: string[];
}

/**
 * A reader of the part of a URL after `?`. It reads only the parameters in `types`. Faults are broken percent-encoding
 * or UTF-8; else a known name in another spelling, then, in the order of `types`, a repeated parameter and a value of
 * the wrong type. Absent parameters stay absent; no value is clamped or coerced (decisions 7).
 */
export function createQueryParser(
  types: ReadonlyMap<string, QueryType>,
): (search: string) => ParsedQuery {
  const spelling = createSpelling(types.keys(), true);
  return (search) => parseQuery(search, types, spelling);
}

function parseQuery(
  search: string,
  types: ReadonlyMap<string, QueryType>,
  spelling: (name: string) => string | undefined,
): ParsedQuery {
  const texts = new Map<string, string[]>();
  const broken: Fault[] = [];
  const others = new Set<string>();
  for (const pair of search.split("&")) {
    if (pair === "") continue;
    const at = pair.indexOf("=");
    const name = decode(at < 0 ? pair : pair.slice(0, at));
    const value = at < 0 ? "" : decode(pair.slice(at + 1));
    if (name === null || value === null) {
      broken.push(fault(name ?? "", "Broken percent-encoding or UTF-8", "encoding"));
    } else if (types.has(name)) {
      const values = texts.get(name);
      if (values === undefined) texts.set(name, [value]);
      else values.push(value);
    } else if (name !== "") others.add(name);
  }
  const values: QueryValues = {};
  if (broken.length > 0) return { values, faults: broken, ignored: [] };

  const faults: Fault[] = [];
  const ignored: string[] = [];
  for (const name of others) {
    const known = spelling(name);
    if (known === undefined) ignored.push(name);
    else faults.push(misspelt("query", name, known));
  }
  for (const [name, type] of types) {
    const [text, ...more] = texts.get(name) ?? [];
    if (text === undefined) continue;
    if (more.length > 0) {
      faults.push(fault(name, "Parameter given more than once", "repeated"));
      continue;
    }
    const value = readers[type](text);
    if (value === null) faults.push({ ...fault(name, ...expected[type]), input: text });
    else values[name] = value;
  }
  return { values, faults: faults.length > 0 ? faults : null, ignored };
}

/** `a, b` → its entries; "" for none. */
export const entries = (text: string): string[] =>
  text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");

/** The items of a parameter that is a comma list of 1 to `max`. */
export function readList(name: string, text: string, max: number): { items: string[] } | Refusal {
  const items = entries(text);
  if (items.length > 0 && items.length <= max) return { items };
  const msg = `Give a comma list of 1 to ${max}`;
  const type = items.length === 0 ? "too_short" : "too_long";
  return refuse("validation-failed", [{ loc: ["query", name], msg, type }]);
}

const listMax = 500;
const nameMax = 60;

/**
 * Names of parameters for a header: percent-encoded, separated by commas, at most 500 characters. Parts of a name or of
 * the list that are left out are shown as `...`.
 */
export function listOfNames(names: readonly string[]): string {
  let list = "";
  for (const name of names) {
    const short = [...name].slice(0, nameMax).join("");
    const text = encodeURIComponent(short) + (short === name ? "" : "...");
    const longer = list === "" ? text : `${list}, ${text}`;
    if (longer.length > listMax) return list === "" ? "..." : `${list}, ...`;
    list = longer;
  }
  return list;
}

/** Percent-decodes UTF-8; null when it is broken. */
export function decodePart(text: string): string | null {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

const decode = (text: string): string | null => decodePart(text.replaceAll("+", " "));

const fault = (name: string, msg: string, type: string): Fault => ({
  loc: ["query", name],
  msg,
  type,
});

const booleans = new Map([
  ["true", true],
  ["1", true],
  ["false", false],
  ["0", false],
]);

const readers: Record<QueryType, (text: string) => string | number | boolean | null> = {
  string: (text) => text,
  integer: (text) => (/^-?\d{1,15}$/.test(text) ? Number(text) : null),
  number: (text) => (/^-?(\d{1,15}(\.\d*)?|\.\d+)$/.test(text) ? Number(text) : null),
  // Any case, because Python writes True.
  boolean: (text) => booleans.get(text.toLowerCase()) ?? null,
};

const expected: Record<QueryType, [msg: string, type: string]> = {
  string: ["Input should be a string", "string_type"],
  integer: ["Input should be a whole number in decimal digits", "int_parsing"],
  number: ["Input should be a decimal number", "float_parsing"],
  boolean: ["Input should be true or false, or 1 or 0", "bool_parsing"],
};
