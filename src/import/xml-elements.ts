import { SaxesParser } from "saxes";
import { recordMax } from "#src/import/json-items.ts";
import { refuseCut } from "#src/import/list-cut.ts";
import type { FileRecord, FileSpec } from "#src/import/records.ts";
import { advice, type ReadProgress, wrongFile } from "#src/import/read-text.ts";
import { readText } from "#src/import/text-file.ts";

const depthMax = 64;

/** An element of an XML file, with the line in which it begins. */
export interface XmlElement {
  name: string;
  line: number;
  value: string | XmlValue;
}

/** Attributes as `@name`, child elements by their names (a list when repeated), text beside them as `#text`. */
export type XmlValue = Record<string, unknown>;

/** The elements at the path `records` ("pdv_liste.pdv") of an XML file. Throws a wrong-file fault when there is none. */
export async function* xmlRecords(
  path: string,
  spec: FileSpec,
  progress: ReadProgress,
): AsyncGenerator<FileRecord[]> {
  const records = spec.records ?? "*.*";
  let found = 0;
  const around: Record<string, string> = {};
  for await (const { line, value } of xmlElements(path, records, spec, progress, around)) {
    found += 1;
    const place = `line ${line}`;
    yield [{ place, value: typeof value === "string" ? { "#text": value } : value }];
  }
  if (found === 0) throw wrongFile(`it has no element "${records}"`, advice.kind);
  if (spec.mayBeCut !== true) refuseCut(around, records, found);
}

/**
 * The elements at a path of names, in which `*` is any name, one after the other, without holding the file. A document
 * type is not read: no entity is known but those of XML itself. `around` gets attributes and texts beside them. Throws a wrong-file fault for XML that is broken or cut.
 */
export async function* xmlElements(
  path: string,
  records: string,
  spec: FileSpec,
  progress: ReadProgress,
  around: Record<string, string> = {},
): AsyncGenerator<XmlElement> {
  const parser = new SaxesParser();
  const builder = elementBuilder(records.split("."), around);
  // The position after which the text has led to nothing yet.
  let settled = 0;
  const settle = (): void => {
    if (!builder.isInside()) settled = parser.position;
  };
  parser.on("opentag", ({ name, attributes }) => {
    settle();
    builder.open(name, attributes as Record<string, string>, parser.line);
  });
  parser.on("closetag", () => {
    builder.close();
    settle();
  });
  parser.on("text", builder.text);
  parser.on("cdata", builder.text);
  parser.on("doctype", (text) => {
    if (text.includes("<!ENTITY"))
      throw wrongFile("it defines entities of its own", "Export it without a document type.");
  });
  parser.on("error", (error) => {
    const what = error.message.replace(/^[\d:]*\s*/, "").replace(/\.$/, "");
    throw wrongFile(`this is not XML (${what.slice(0, 100)})`, advice.cut, parser.line);
  });
  for await (const piece of readText(path, progress, spec)) {
    parser.write(piece);
    if (parser.position - settled > recordMax)
      throw wrongFile("one of its elements is too long", advice.kind, parser.line);
    yield* builder.take();
  }
  parser.close();
  yield* builder.take();
}

interface Open {
  name: string;
  line: number;
  value: XmlValue;
  text: string;
}

/** Builds the values of the elements at a path from the parser's events. */
function elementBuilder(wanted: readonly string[], around: Record<string, string>) {
  const names: string[] = [];
  const open: Open[] = [];
  let done: XmlElement[] = [];
  const isWanted = (): boolean =>
    names.length === wanted.length && wanted.every((name, n) => name === "*" || name === names[n]);

  return {
    isInside: (): boolean => open.length > 0,
    open(name: string, attributes: Record<string, string>, line: number): void {
      names.push(name);
      if (names.length > depthMax)
        throw wrongFile("its elements nest too deeply", advice.kind, line);
      if (open.length === 0 && !isWanted()) return void Object.assign(around, attributes);
      // Without a prototype: a file may use any name.
      const value = Object.create(null) as XmlValue;
      for (const key of Object.keys(attributes)) value[`@${key}`] = attributes[key];
      open.push({ name, line, value, text: "" });
    },
    text(text: string): void {
      const last = open.at(-1);
      if (last !== undefined) last.text += text;
      else if (text.trim() !== "") around[names.at(-1) ?? ""] = text.trim();
    },
    close(): void {
      names.pop();
      const closed = open.pop();
      if (closed === undefined) return;
      const { name, line } = closed;
      const value = valueOf(closed);
      const parent = open.at(-1)?.value;
      if (parent === undefined) done.push({ name, line, value });
      else {
        const before = parent[name];
        if (before === undefined) parent[name] = value;
        else if (Array.isArray(before)) before.push(value);
        else parent[name] = [before, value];
      }
    },
    take(): XmlElement[] {
      const taken = done;
      done = [];
      return taken;
    },
  };
}

function valueOf({ value, text }: Open): string | XmlValue {
  const words = text.trim();
  if (Object.keys(value).length === 0) return words;
  if (words !== "") value["#text"] = words;
  return value;
}
