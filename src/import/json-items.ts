import { refuseCut } from "#src/import/list-cut.ts";
import type { FileRecord } from "#src/import/records.ts";
import { advice, type ReadProgress, wrongFile } from "#src/import/read-text.ts";
import { readText, type TextSpec } from "#src/import/text-file.ts";

/** Characters that one record, or all that surrounds the records, may have. */
export const recordMax = 8_000_000;
const depthMax = 64;

/**
 * The items of the list at `records` ("elements", "data.stations", "." for a list at the top) of a JSON file, one after
 * the other, without holding the file. Throws a wrong-file fault for JSON that is broken or cut off, even at its very
 * end, for a file without that list, and for the answer of a query that failed.
 */
export async function* jsonItems(
  path: string,
  records: string,
  spec: TextSpec,
  progress: ReadProgress,
): AsyncGenerator<FileRecord[]> {
  const splitter = itemSplitter(records === "." ? [] : records.split("."));
  const recordOf = recordReader();
  for await (const piece of readText(path, progress, spec)) {
    // An object in each line is a list too. Within one, JSON never has a line like this.
    if (records === "." && /^\s*\{[^\n]*\}[^\S\n]*\n\s*\{/.test(piece)) {
      yield* jsonSequence(path, spec, progress);
      return;
    }
    yield* inOneList(splitter.push(piece), recordOf);
  }
  const { text, found, items } = splitter.rest();
  // The lines of the text count only where no item was cut out of it.
  const around = parseAt(text, "this", found ? null : 1);
  // Some services give the only entry without its list.
  const only = records.split(".").reduce<unknown>((at, key) => isRecord(at) && at[key], around);
  if (!found && !isRecord(only)) throw noList(records, around);
  if (!found) yield [{ place: "record 1", value: only as FileRecord["value"] }];
  else if (spec.mayBeCut !== true) refuseCut(around, records, items);
  const remark = isRecord(around) ? around["remark"] : undefined;
  // After a query without enough time or memory, Overpass answers 200 with a part of the result and this remark.
  if (typeof remark === "string" && /error|timed out|timeout/i.test(remark))
    throw wrongFile(
      `it holds the answer of a query that failed (${remark.slice(0, 100)})`,
      "Run the query again, for a smaller area or with a longer timeout.",
    );
}

/**
 * The values of a JSON text sequence: one in each line, or each after a record separator (RFC 8142), as osmium and
 * ogr2ogr write GeoJSON. Throws a wrong-file fault for a value that is broken or cut off.
 */
export async function* jsonSequence(
  path: string,
  spec: TextSpec,
  progress: ReadProgress,
): AsyncGenerator<FileRecord[]> {
  let rest = "";
  let mark = "";
  let line = 1;
  const recordOf = recordReader();
  const items = function* (texts: readonly string[]): Generator<Item> {
    for (const text of texts) {
      if (text.trim() !== "") yield { text, line };
      line += (text + mark).split("\n").length - 1;
    }
  };
  for await (const piece of readText(path, progress, spec)) {
    rest += piece;
    if (rest.length > recordMax) throw tooLong("one of its records", line);
    mark ||= rest.startsWith(separatorMark) ? separatorMark : "\n";
    const texts = rest.split(mark);
    rest = texts.pop() ?? "";
    yield* inOneList(items(texts), recordOf);
  }
  yield* inOneList(items([rest]), recordOf);
}

/** Makes records of items, which it counts. */
function recordReader(): (item: Item) => FileRecord {
  let number = 0;
  return ({ text, line }) => {
    const place = `record ${(number += 1)}`;
    const value = parseAt(text, place, line);
    return isRecord(value) ? { place, value } : { place, value: {}, refused: "not-an-object" };
  };
}

/** The records of a piece in one list: a turn for each would take as long as reading it. Those before a fault come. */
function* inOneList(
  items: Iterable<Item>,
  recordOf: (item: Item) => FileRecord,
): Generator<FileRecord[]> {
  const records: FileRecord[] = [];
  try {
    for (const item of items) records.push(recordOf(item));
  } finally {
    if (records.length > 0) yield records;
  }
}

const separatorMark = "\u001e";

const tooLong = (what: string, line: number): Error =>
  wrongFile(`${what} has more than ${recordMax / 1e6} MB`, advice.kind, line);

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function noList(records: string, around: unknown): Error {
  const list = records === "." || records === "" ? "list at the top" : `list "${records}"`;
  const names = isRecord(around) ? Object.keys(around).slice(0, 10).join(", ") : "";
  return wrongFile(`it has no ${list}${names === "" ? "" : `; it holds ${names}`}`, advice.kind);
}

// A number cannot hold all digits of a long id: 9007199254740993 would be the one before it.
const longNumbers = /"(?:[^"\\]|\\.)*"|(?<![\d.])-?\d{16,}(?![\d.eE])/gs;
const inQuotes = (one: string): string =>
  one.startsWith('"') || String(Number(one)) === one ? one : `"${one}"`;

/** Sixteen digits in a row have one at a sixteenth place. Those after a point are a position's. */
function hasLongNumber(text: string): boolean {
  for (let at = 15; at < text.length; at += 16) {
    let [from, to] = [at, at];
    while (isDigit(text.charCodeAt(from - 1))) from -= 1;
    while (isDigit(text.charCodeAt(to))) to += 1;
    if (to - from >= 16 && text[from - 1] !== ".") return true;
  }
  return false;
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

/** The value of the JSON text of `what`, which begins in `line` of the file. Throws a wrong-file fault. */
export function parseAt(text: string, what: string, line: number | null): unknown {
  try {
    const value: unknown = JSON.parse(text);
    // Only in a text whose quotes are known to end: others would be gone through once for each quote.
    return hasLongNumber(text) ? JSON.parse(text.replace(longNumbers, inQuotes)) : value;
  } catch (error) {
    // Without a position the text ends too early.
    const at = Number(/position (\d+)/.exec((error as Error).message)?.[1] ?? text.length);
    const before = text.slice(0, at).trimEnd();
    const near = before.slice(-30).trimStart().replace(/\s+/g, " ");
    const lines = before.split("\n").length - 1;
    throw wrongFile(
      `${what} is not JSON${near === "" ? "" : ` after “${near}”`}`,
      advice.cut,
      line === null ? null : line + lines,
    );
  }
}

interface Item {
  text: string;
  /** The line of the file in which it begins, from 1. */
  line: number;
}

const [quote, backslash, comma, colon, lineFeed] = [0x22, 0x5c, 0x2c, 0x3a, 0x0a];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Cuts the text of a JSON document, given in pieces, into the items of one of its lists. It only follows brackets and
 * quotes; the caller parses each item, and the text around them, and so finds every fault.
 */
function itemSplitter(wanted: readonly string[]) {
  // The key under which each open object is now, null for a list.
  const keys: (string | null)[] = [];
  let [inString, escaped] = [false, false];
  let line = 1;
  let itemLine = 1;
  /** Depth of the wanted list; 0 outside of it. */
  let listDepth = 0;
  let found = false;
  let items = 0;
  let around = "";
  /** The end of `around`: a look at it would copy all of it, once for each key of a large object. */
  let recent = "";
  let text = "";

  function take(part: string): void {
    if (listDepth > 0) text += part;
    else {
      around += part;
      recent = (recent + part).slice(-keyMax);
    }
    if (text.length > recordMax) throw tooLong("one of its records", line);
    if (around.length > recordMax) throw noList(wanted.join("."), null);
  }
  function opens(code: number): boolean {
    const isWanted = keys.length === wanted.length && wanted.every((key, n) => keys[n] === key);
    const begins = code === openList && listDepth === 0 && isWanted;
    if (begins && found)
      throw wrongFile(`it has the list "${wanted.join(".")}" twice`, advice.kind, line);
    keys.push(null);
    if (keys.length > depthMax) throw wrongFile("its values nest too deeply", advice.kind, line);
    return begins;
  }

  function* push(piece: string): Generator<Item> {
    let from = 0;
    for (let at = 0; at < piece.length; at += 1) {
      const code = piece.charCodeAt(at);
      if (inString) {
        if (escaped) escaped = false;
        else if (code === backslash) escaped = true;
        else if (code === quote) inString = false;
        continue;
      }
      if (code === quote) inString = true;
      else if (code === lineFeed) line += 1;
      else if (code === openObject || code === openList) {
        if (!opens(code)) continue;
        take(piece.slice(from, at + 1));
        from = at + 1;
        [found, listDepth, itemLine] = [true, keys.length, line];
      } else if (code === closeObject || code === closeList || code === comma) {
        const isEnd = code !== comma && keys.length === listDepth;
        if (listDepth > 0 && keys.length === listDepth) {
          take(piece.slice(from, at));
          from = code === comma ? at + 1 : at;
          if (!isEnd || items > 0 || text.trim() !== "") yield { text, line: itemLine };
          items += 1;
          [text, itemLine] = ["", line];
        }
        if (isEnd) listDepth = 0;
        if (code !== comma) keys.pop();
      } else if (code === colon && listDepth === 0 && keys.length > 0) {
        take(piece.slice(from, at));
        from = at;
        keys[keys.length - 1] = lastString(recent);
      }
    }
    take(piece.slice(from));
  }
  function rest(): { text: string; found: boolean; items: number } {
    if (keys.length > 0) throw wrongFile("it ends before its last bracket", advice.cut, line);
    return { text: around, found, items };
  }
  return { push, rest };
}

/** Characters of a key, with its quotes, that may lead to the list. */
const keyMax = 300;

/** The string at the end of a JSON text; null when there is none. */
function lastString(text: string): string | null {
  const written = /"(?:[^"\\]|\\.)*"\s*$/.exec(text);
  try {
    return written === null ? null : (JSON.parse(written[0]) as string);
  } catch {
    return null;
  }
}
