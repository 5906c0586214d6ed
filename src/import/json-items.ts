import { pipeline, Readable } from "node:stream";
import Assembler from "stream-json/assembler.js";
import { parser } from "stream-json/parser.js";
import type { Token } from "stream-json/parser.js";
import { readText, wrongFile, type ReadProgress } from "#src/import/read-text.ts";

/**
 * The items of the array `name` of the JSON object in a file, one after the other, without holding the file. Calls
 * `onOtherValue` with the object's other plain values (text, numbers, booleans). Throws a wrong-file fault for JSON that
 * is broken or cut off, even at its very end, and for a file without that array.
 */
export async function* readItems(
  path: string,
  name: string,
  progress: ReadProgress,
  onOtherValue: (key: string, value: unknown) => void,
): AsyncGenerator {
  const tokens = parser.asStream({ streamValues: false });
  // The callback form: an error of the text destroys the parser, and the loop below throws it.
  pipeline(Readable.from(readText(path, progress)), tokens, () => undefined);
  let depth = 0;
  let key = "";
  let found = false;
  let item: Assembler | null = null;
  for await (const token of inOrder(tokens)) {
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
        throw wrongFile("holds a list where an object is expected");
      depth += 1;
      if (depth === 2 && key === name) {
        if (found || token.name === "startObject") throw wrongFile(`its "${name}" is not one list`);
        found = true;
      }
    } else if (token.name === "endObject" || token.name === "endArray") {
      depth -= 1;
      if (depth === 1) key = "";
    } else if (depth === 1 && "value" in token) onOtherValue(key, token.value);
  }
  if (!found) throw wrongFile(`has no list "${name}"`);
}

async function* inOrder(tokens: AsyncIterable<unknown>): AsyncGenerator<Token> {
  try {
    for await (const token of tokens) yield token as Token;
  } catch (error) {
    const fault = /^Parser (?:cannot parse input: )?(.+)/.exec((error as Error).message);
    if (fault !== null) throw wrongFile(`is not JSON, or is cut off (${fault[1]})`);
    throw error;
  }
}
