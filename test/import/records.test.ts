import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import { asFault, isFault } from "#src/import/read-text.ts";
import { type FileRecord, type FileSpec, readRecords } from "#src/import/records.ts";

describe("the records of a file", () => {
  let folder: string;
  let path: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "fuelmark-"));
    path = join(folder, "file");
  });
  after(() => rm(folder, { recursive: true }));

  const collected = async (spec: FileSpec): Promise<FileRecord[]> => {
    const found: FileRecord[] = [];
    for await (const record of readRecords(path, spec, () => undefined)) found.push(record);
    return found;
  };
  /** The values of all records, or the words of the fault. */
  const read = async (content: string | Buffer, spec: FileSpec): Promise<unknown> => {
    await writeFile(path, content);
    const found = await asFault(path, async () => ({ found: await collected(spec) }));
    if (isFault(found)) return found.fault.replace(path, "FILE");
    return found.found.map(({ place, value, refused }) =>
      refused === undefined ? [place, value] : [place, refused],
    );
  };

  describe("in CSV", () => {
    const rows = [
      ["line 2", { id: "1", name: "A;B" }],
      ["line 3", { id: "2", name: "" }],
    ];
    for (const [what, content] of Object.entries({
      commas: 'id,name\n1,"A;B"\n2,\n',
      semicolons: 'id;name\n1;"A;B"\n2;\n',
      tabs: "id\tname\n1\tA;B\n2\t\n",
      bars: "\ufeffid | name\r\n1|A;B\r\n2|\r\n",
    }))
      it(`are found by the names of the heading between ${what}`, async () => {
        expect(await read(content, { format: "csv" })).to.deep.equal(rows);
      });

    it("begin below other lines, a line `sep=`, or at the top when the columns are named", async () => {
      const asked: [string, FileSpec][] = [
        ["as of 2026-08-21\nid;a,b,c\n7;x\n", { format: "csv", skip_lines: 1, separator: ";" }],
        ["sep=;\nid;a,b,c\n7;x\n", { format: "csv" }],
      ];
      for (const [content, spec] of asked)
        expect(await read(content, spec)).to.deep.equal([["line 3", { id: "7", "a,b,c": "x" }]]);
      const columns = ["id", "name"];
      expect(await read("7;x\n", { format: "csv", columns })).to.deep.equal([
        ["line 1", { id: "7", name: "x" }],
      ]);
    });

    const italian: FileSpec = {
      format: "csv",
      quotes: false,
      spill: ["owner", "name", "road"],
      shapes: { id: "^\\d+$", kind: "^(road|motorway)$", lat: "^\\d+\\.\\d+$" },
    };
    const line = (text: string) => read(`id|owner|kind|name|road|lat\n${text}\n`, italian);
    it("keep what is sure of a line in which a value holds separators", async () => {
      const plain = { id: "1", owner: 'S "X"', kind: "road", name: "N", road: "R", lat: "41.5" };
      expect(await line('1|S "X"|road|N|R|41.5')).to.deep.equal([["line 2", plain]]);
      expect(await line("1|S|X|road|N|R|41.5")).to.deep.equal([
        ["line 2", { ...plain, owner: "S|X" }],
      ]);
      expect(await line('1|S "X"|road|N|M|R|41.5')).to.deep.equal([
        ["line 2", { ...plain, name: "", road: "" }],
      ]);
    });

    it("are refused alone where no reading fits, and the file when that is common", async () => {
      expect(await line("1|S|road|N|R|41|5|x")).to.deep.equal([["line 2", "wrong-fields"]]);
      expect(await line("1|S|road|N")).to.deep.equal([["line 2", "wrong-fields"]]);
      const many = Array.from({ length: 12 }, () => "1|S|road|N").join("\n");
      expect(await line(many)).to.match(/^FILE: 12 of its 12 lines have another number of fields/);
    });

    it("are refused with their file when it has its heading twice, or nothing below it", async () => {
      expect(await read("id,name\n1,A\nid,name\n1,A\n", { format: "csv" })).to.match(
        /^FILE, line 3: it is the heading again; nothing was changed. Two files/,
      );
      expect(await read("id,name\n", { format: "csv" })).to.match(/no line below its heading/);
      expect(await read('{"id": 1}', { format: "csv" })).to.match(/this is JSON, not a table/);
    });
  });

  describe("in JSON", () => {
    const json: FileSpec = { format: "json", records: "data.list" };

    it("are the items of the list at a path, whatever stands around and inside", async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true })),
          fc.jsonValue(),
          fc.constantFrom(0, 2),
          async (items, other, indent) => {
            const written = { before: other, data: { a: other, list: items, z: other } };
            const rows = items.map((value, n) => [`record ${n + 1}`, value]);
            // JSON has no -0.
            const plain: unknown = JSON.parse(JSON.stringify(rows));
            expect(await read(JSON.stringify(written, null, indent), json)).to.deep.equal(plain);
            const top = await read(JSON.stringify(items), { format: "json", records: "." });
            expect(top).to.deep.equal(plain);
          },
        ),
        { numRuns: 60 },
      );
    });

    it("are refused alone when they are no objects", async () => {
      expect(await read('{"data": {"list": [1, {}, null]}}', json)).to.deep.equal([
        ["record 1", "not-an-object"],
        ["record 2", {}],
        ["record 3", "not-an-object"],
      ]);
    });

    it("are found without a list of their own in a sequence, by lines or by record separators", async () => {
      const features = [
        { type: "Feature", id: 1 },
        { type: "Feature", id: 2 },
      ];
      const rows = features.map((value, n) => [`record ${n + 1}`, value]);
      const [one, two] = features.map((value) => JSON.stringify(value));
      const pretty = features.map((value) => `\u001e${JSON.stringify(value, null, 2)}\n`);
      for (const content of [`${one}\n${two}\n`, `${one}\r\n\r\n${two}`, pretty.join("")])
        expect(await read(content, { format: "geojsonseq" })).to.deep.equal(rows);
      expect(await read(`${one}\n${two?.slice(0, -3)}`, { format: "geojsonseq" })).to.match(
        /^FILE, line 2: record 2 is not JSON/,
      );
    });

    for (const [what, content, words] of [
      ["a comma too many", '{"data": {"list": [{}, ]}}', /line 1: record 2 is not JSON/],
      ["a comma missing", '{"data": {"list": [{} {}]}}', /record 1 is not JSON after “\{\}/],
      ["no such list", '{"data": {"rows": []}}', /it has no list "data.list"; it holds data/],
      ["the list twice", '{"data": {"list": [{}], "list": []}}', /the list "data.list" twice/],
      ["more after its end", '{"data": {"list": [{}]}} x', /this is not JSON/],
      ["too much nesting", `{"data": {"list": [${"[".repeat(100_000)}`, /nest too deeply/],
      ["a part missing", '{"data": {"list": [{}, {"a": "b', /ends before its last bracket/],
    ] as const)
      it(`are refused with their file for ${what}`, async () => {
        expect(await read(content, json)).to.match(words);
      });
  });
});
