import type { Fault } from "#src/contract/refusals.ts";

/** What a query parameter holds. Anything else is read as a string. */
export type QueryType = "string" | "integer" | "number" | "boolean";

export type QueryValues = Record<string, string | number | boolean>;

export type ParsedQuery = { values: QueryValues; faults?: never } | { faults: Fault[] };

/**
 * Reads the part of a URL after `?`. Only the parameters in `types` are looked at; unknown ones are ignored.
 * A repeated parameter, a value of the wrong type and broken percent-encoding (also UTF-8 that is none) are faults,
 * in the order of `types`. An absent parameter is absent; no value is clamped or coerced (docs/decisions.md 7).
 */
export function parseQuery(search: string, types: ReadonlyMap<string, QueryType>): ParsedQuery {
  const texts = new Map<string, string[]>();
  const broken: Fault[] = [];
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
    }
  }
  if (broken.length > 0) return { faults: broken };

  const values: QueryValues = {};
  const faults: Fault[] = [];
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
  return faults.length > 0 ? { faults } : { values };
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
  boolean: (text) => booleans.get(text) ?? null,
};

const expected: Record<QueryType, [msg: string, type: string]> = {
  string: ["Input should be a string", "string_type"],
  integer: ["Input should be a whole number in decimal digits", "int_parsing"],
  number: ["Input should be a decimal number", "float_parsing"],
  boolean: ["Input should be true or false", "bool_parsing"],
};
