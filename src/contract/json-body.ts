import type { Fault } from "#src/contract/refusals.ts";

const depthMax = 32;

export type ParsedBody = { value: unknown; faults?: never } | { faults: Fault[] };

/**
 * Reads the bytes of a JSON body. Bytes that are not UTF-8 are refused, never replaced: U+FFFD would make one reporter
 * of many. It also refuses nesting deeper than 32, text that Postgres cannot keep (NUL, lone surrogates), and repeated
 * names in one object, since one of the values would be lost (decisions 3.18).
 */
export function parseBody(bytes: Uint8Array): ParsedBody {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return refused("Body should be UTF-8", "encoding");
  }
  if (text.trim() === "") return refused("Body required", "missing");
  if (isTooDeep(bytes)) return refused(`Body should not nest deeper than ${depthMax}`, "too_deep");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refused("Body should be valid JSON", "json_invalid");
  }
  // NUL and lone surrogates can only come from an escape.
  const faults = text.includes("\\u") ? badTexts(value, ["body"]) : [];
  faults.push(...repeatedNames(text));
  return faults.length > 0 ? { faults } : { value };
}

const refused = (msg: string, type: string): ParsedBody => ({
  faults: [{ loc: ["body"], msg, type }],
});

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c] as const;
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d] as const;
const isOpener = (code: number): boolean => code === openBrace || code === openBracket;
const isCloser = (code: number): boolean => code === closeBrace || code === closeBracket;

// Checks the bytes before any recursive code, which would overflow the stack on deep nesting.
function isTooDeep(bytes: Uint8Array): boolean {
  let depth = 0;
  let quoted = false;
  for (let i = 0; i < bytes.length; i += 1) {
    const byte = bytes[i] as number;
    if (quoted) {
      if (byte === backslash) i += 1;
      else if (byte === quote) quoted = false;
    } else if (byte === quote) quoted = true;
    else if (isOpener(byte)) {
      depth += 1;
      if (depth > depthMax) return true;
    } else if (isCloser(byte)) depth -= 1;
  }
  return false;
}

function badTexts(value: unknown, loc: Fault["loc"]): Fault[] {
  if (typeof value === "string") return isBad(value) ? [badText(loc)] : [];
  if (Array.isArray(value)) return value.flatMap((item, i) => badTexts(item, [...loc, i]));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, item]) =>
    isBad(name) ? [badText(loc)] : badTexts(item, [...loc, name]),
  );
}

// The u flag makes \p{Surrogate} match lone surrogates only.
const isBad = (text: string): boolean => /[\0\p{Surrogate}]/u.test(text);

const badText = (loc: Fault["loc"]): Fault => ({
  loc,
  msg: "Text should hold no NUL and no lone surrogate",
  type: "string_unicode",
});

const faultsMax = 20;

/** An open bracket: the names of an object so far (null for a list), and the reader's place in it. */
interface Open {
  names: Set<string> | null;
  at: string | number;
}

/** Faults of names that stand twice in one object of this valid JSON. */
function repeatedNames(text: string): Fault[] {
  const faults: Fault[] = [];
  const open: Open[] = [];
  let awaitsName = false;
  for (let i = 0; i < text.length && faults.length < faultsMax; i += 1) {
    const code = text.charCodeAt(i);
    const top = open.at(-1);
    if (code === quote) {
      const from = i;
      i = endOfString(text, i);
      if (!awaitsName || !top?.names) continue;
      awaitsName = false;
      const name = text.slice(from + 1, i);
      top.at = name.includes("\\") ? (JSON.parse(`"${name}"`) as string) : name;
      if (top.names.has(top.at))
        faults.push({
          loc: ["body", ...open.map(({ at }) => (typeof at === "string" ? at.slice(0, 100) : at))],
          msg: "Name given more than once",
          type: "repeated",
        });
      top.names.add(top.at);
    } else if (isOpener(code)) {
      awaitsName = code === openBrace;
      open.push(awaitsName ? { names: new Set(), at: "" } : { names: null, at: 0 });
    } else if (isCloser(code)) {
      open.pop();
      awaitsName = false;
    } else if (code === comma && top !== undefined) {
      awaitsName = top.names !== null;
      if (typeof top.at === "number") top.at += 1;
    }
  }
  return faults;
}

function endOfString(text: string, from: number): number {
  let at = from + 1;
  while (text.charCodeAt(at) !== quote) at += text.charCodeAt(at) === backslash ? 2 : 1;
  return at;
}
