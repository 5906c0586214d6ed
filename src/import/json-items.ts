import { pipeline, Readable } from "node:stream";
import Assembler from "stream-json/assembler.js";
import { parser } from "stream-json/parser.js";
import type { Token } from "stream-json/parser.js";
import { readText, wrongFile, type ReadProgress } from "#src/import/read-text.ts";

/**
 * The items of the array `name` of the JSON object in a file, one after the other, without holding the file.
 * `beside` is given the object's other plain values (text, numbers, booleans). Throws a wrong-file fault for broken
 * or truncated JSON, at its very end too, and for a file without that array.
 */
export async function* readItems(
  path: string,
  name: string,
  progress: ReadProgress,
  beside: (key: string, value: unknown) => void,
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
      const starts = token.name === "startObject" || token.name === "startArray";
      if (!starts) {
        yield "value" in token ? token.value : null;
        continue;
      }
      item = new Assembler();
      item.consume(token);
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
    } else if (depth === 1 && "value" in token) beside(key, token.value);
  }
  if (!found) throw wrongFile(`has no list "${name}"`);
}

async function* inOrder(tokens: AsyncIterable<unknown>): AsyncGenerator<Token> {
  try {
    for await (const token of tokens) yield token as Token;
  } catch (error) {
    const said =
      error instanceof Error ? error.message.match(/^Parser (?:cannot parse input: )?(.+)/) : null;
    if (said !== null) throw wrongFile(`is not JSON, or is cut off (${said[1]})`);
    throw error;
  }
}
