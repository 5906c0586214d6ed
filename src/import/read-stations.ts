import { pipeline, Readable } from "node:stream";
import Assembler from "stream-json/assembler.js";
import { jsonParser, parser, type Token } from "stream-json/parser.js";
import { collect, type Collected } from "#src/import/file-import.ts";
import { fromGeojson, fromOverpass, type ReadObject } from "#src/import/osm-object.ts";
import { stationFrom, type ImportedStation } from "#src/import/osm-station.ts";
import { advice, readText, wrongFile, type ReadProgress } from "#src/import/read-text.ts";

export const stationFormats = ["overpass", "geojson"] as const;
export type StationFormat = (typeof stationFormats)[number];

const layouts: Record<StationFormat, { list: string; read: ReadObject }> = {
  overpass: { list: "elements", read: fromOverpass },
  geojson: { list: "features", read: fromGeojson },
};

/**
 * The stations in a file of OSM objects. Throws a wrong-file fault for a file that is broken, cut off or of another
 * kind, for the answer of a query that failed, and for a file without a single station.
 */
export function readStations(
  path: string,
  format: StationFormat,
  source: string,
  progress: ReadProgress,
): Promise<Collected<ImportedStation>> {
  const { list, read } = layouts[format];
  const onOtherValue = (key: string, value: unknown): void => {
    // After a query without enough time or memory, Overpass answers 200 with a part of the result and this remark.
    if (key === "remark" && /error|timed out|timeout/i.test(String(value)))
      throw wrongFile(
        `it holds the answer of a query that failed (${String(value).slice(0, 100)})`,
        "Run the query again, for a smaller area or with a longer timeout.",
      );
  };
  const items = readItems(path, list, progress, onOtherValue);
  return collect(items, "filling station", (item) => {
    const object = read(item, source);
    return "refused" in object ? object : stationFrom(object);
  });
}

/** The format, recognised by the beginning of a file. Throws a wrong-file fault for an unknown format. */
export async function guessStationFormat(path: string): Promise<StationFormat> {
  let head = "";
  for await (const piece of readText(path, () => undefined)) {
    head += piece;
    if (/"FeatureCollection"/.test(head)) return "geojson";
    if (/"elements"\s*:/.test(head)) return "overpass";
    if (head.length > 1_000_000) break;
  }
  throw wrongFile("this is neither Overpass JSON nor GeoJSON", advice.kind);
}

/**
 * The items of the array `name` of the JSON object in a file, one after the other, without holding the file. Calls
 * `onOtherValue` with the object's other plain values (text, numbers, booleans). Throws a wrong-file fault for JSON that
 * is broken or cut off, even at its very end, and for a file without that array.
 */
async function* readItems(
  path: string,
  name: string,
  progress: ReadProgress,
  onOtherValue: (key: string, value: unknown) => void,
): AsyncGenerator {
  const tokens = parser.asStream({ streamValues: false });
  // The callback form, in which an error of the text destroys the parser, and the loop below throws it.
  pipeline(Readable.from(readText(path, progress)), tokens, () => undefined);
  let depth = 0;
  let key = "";
  let found = false;
  let item: Assembler | null = null;
  for await (const token of inOrder(path, tokens)) {
    if (item !== null) {
      item.consume(token);
      if (!item.done) continue;
      yield item.current;
      item = null;
      continue;
    }
    const inside = depth === 2 && key === name;
    if (inside && token.name !== "endArray") {
      if (token.name === "startObject" || token.name === "startArray") {
        item = new Assembler();
        item.consume(token);
      } else yield "value" in token ? token.value : null;
      continue;
    }
    if (token.name === "keyValue" && depth === 1) key = token.value;
    else if (token.name === "startObject" || token.name === "startArray") {
      if (depth === 0 && token.name === "startArray")
        throw wrongFile("it holds a list where an object is expected", advice.kind);
      depth += 1;
      if (depth === 2 && key === name) {
        if (found || token.name === "startObject")
          throw wrongFile(`its "${name}" is not one list`, advice.kind);
        found = true;
      }
    } else if (token.name === "endObject" || token.name === "endArray") {
      depth -= 1;
      if (depth === 1) key = "";
    } else if (depth === 1 && "value" in token) onOtherValue(key, token.value);
  }
  if (!found) throw wrongFile(`it has no list "${name}"`, advice.kind);
}

async function* inOrder(path: string, tokens: AsyncIterable<unknown>): AsyncGenerator<Token> {
  try {
    for await (const token of tokens) yield token as Token;
  } catch (error) {
    const fault = /^Parser (?:cannot parse input: )?(.+)/.exec((error as Error).message);
    if (fault === null) throw error;
    const { line, near } = await placeOfFault(path);
    throw wrongFile(`this is not JSON${near}, or it is cut off (${fault[1]})`, advice.cut, line);
  }
}

const sliceLength = 500;

/** The place of the first invalid JSON, from a second reading line by line; the last line if the end is missing. */
async function placeOfFault(path: string): Promise<{ line: number; near: string }> {
  const read = jsonParser({ streamValues: false }) as (text: string) => unknown;
  let [line, character] = [1, 0];
  try {
    for await (const piece of readText(path, () => undefined))
      for (const part of piece.split(/(?<=\n)/))
        for (let from = 0; from < part.length; from += sliceLength) {
          const text = part.slice(from, from + sliceLength);
          read(text);
          character += text.length;
          if (text.endsWith("\n")) [line, character] = [line + 1, 0];
        }
  } catch {
    // The fault is at the current line and character.
  }
  // Files of one line are common, so the character helps too.
  return { line, near: character < sliceLength ? "" : ` after character ${character}` };
}
