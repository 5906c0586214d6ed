import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import fc from "fast-check";
import { csvLines } from "#src/import/csv-lines.ts";
import { jsonItems, jsonSequence } from "#src/import/json-items.ts";
import { readText } from "#src/import/text-file.ts";
import { xmlElements } from "#src/import/xml-elements.ts";
import { sized } from "#test/harness/long.ts";
import { useFolder } from "#test/harness/use.ts";

/** Bytes that a file is read in at once (`file-bytes.ts`). */
const pieceBytes = 256 * 1024;
const name = 'Ё😀 "a", {"b":[1]} </x>';
const none = () => undefined;

/** Each kind of file with a record of many signs around the end of a piece, which `pad` moves. */
const kinds = {
  csv: {
    file: (pad: string) => `id,name\n1,${pad}\n2,"${name.replaceAll('"', '""')}\n"\n3,c\n`,
    async read(path: string) {
      const found: unknown[] = [];
      for await (const { fields } of csvLines(path, { delimiter: ",", quote: true }, none))
        found.push(fields[1]!.slice(0, 50));
      return found.slice(2);
    },
    right: [`${name}\n`, "c"],
  },
  json: {
    file: (pad: string) =>
      JSON.stringify({ pad, list: [{ name: pad }, { name, "n\\": ["]"] }, { name: "c" }] }),
    async read(path: string) {
      const found: unknown[] = [];
      for await (const some of jsonItems(path, "list", {}, none))
        found.push(...some.map(({ value }) => (value as { name: string }).name));
      return found.slice(1);
    },
    right: [name, "c"],
  },
  sequence: {
    file: (pad: string) =>
      [{ name: pad }, { name }, { name: "c" }].map((one) => `${JSON.stringify(one)}\r\n`).join(""),
    async read(path: string) {
      const found: unknown[] = [];
      for await (const some of jsonSequence(path, {}, none))
        found.push(...some.map(({ value }) => (value as { name: string }).name));
      return found.slice(1);
    },
    right: [name, "c"],
  },
  xml: {
    file: (pad: string) =>
      `<a><x n="${pad}"/><x n="${name.replaceAll('"', "&quot;").replace("<", "&lt;")}"/><x n="c"><!-- - --></x></a>`,
    async read(path: string) {
      const found: unknown[] = [];
      for await (const { value } of xmlElements(path, "a.x", { format: "xml" }, none))
        found.push((value as Record<string, string>)["@n"]);
      return found.slice(1);
    },
    right: [name, "c"],
  },
};

describe("files that are read in pieces", () => {
  const folder = useFolder();

  for (const [kind, { file, read, right }] of Object.entries(kinds))
    it(`give the same records wherever a piece ends: ${kind}`, async () => {
      const path = join(folder.path, `pieces.${kind}`);
      // The pad may stand twice, before the list and in it.
      const pads = file("").length === file("x").length - 2 ? 2 : 1;
      const offsets = fc.record({ back: fc.integer({ min: -5, max: 100 }), packed: fc.boolean() });
      const property = fc.asyncProperty(offsets, async ({ back, packed }) => {
        const pad = "x".repeat(Math.ceil((pieceBytes - back) / pads));
        const bytes = Buffer.from(file(pad));
        await writeFile(path, packed ? gzipSync(bytes, { level: 1 }) : bytes);
        expect(await read(path)).to.deep.equal(right);
      });
      await fc.assert(property, { numRuns: sized(25, 100) });
    });

  it("give the same text in other encodings, and with a byte order mark", async () => {
    const path = join(folder.path, "text");
    for (const [encoding, mark] of [
      ["utf-8", ""],
      ["utf-8", "\ufeff"],
      ["utf-16le", "\ufeff"],
      ["windows-1251", ""],
    ] as const)
      for (const back of [0, 1, 2, 3, 4, 5]) {
        const text = `${"x".repeat(pieceBytes / (encoding === "utf-16le" ? 2 : 1) - back)}ёЁ${encoding === "windows-1251" ? "" : "😀"}y`;
        const bytes =
          encoding === "windows-1251"
            ? Buffer.from(text.replace("ё", "\u00b8").replace("Ё", "\u00a8"), "latin1")
            : Buffer.from(mark + text, encoding);
        await writeFile(path, bytes);
        let read = "";
        for await (const piece of readText(path, none, { encoding })) read += piece;
        expect(read === text, `${encoding} ${back}`).to.equal(true);
      }
  });
});
