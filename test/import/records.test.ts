import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import iconv from "iconv-lite";
import { gzipSync } from "node:zlib";
import { asFault, isFault } from "#src/import/read-text.ts";
import { type FileRecord, type FileSpec, readRecords } from "#src/import/records.ts";
import { blockOf, osmExtract, type OsmObjects } from "#test/harness/osm-extract.ts";
import { zipOf } from "#test/harness/zip.ts";
import { useFolder } from "#test/harness/use.ts";

describe("the records of a file", () => {
  const folder = useFolder();
  let path: string;
  before(async () => {
    path = join(folder.path, "file");
  });

  const collected = async (spec: FileSpec): Promise<FileRecord[]> => {
    const found: FileRecord[] = [];
    for await (const some of readRecords(path, spec, () => undefined)) found.push(...some);
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
      const [short, good] = ["1|S|road|N", "1|S|road|N|R|41.5"];
      expect(await line(`${short}\n${good}`)).to.deep.include(["line 2", "wrong-fields"]);
      // The last line is cut off.
      expect(await line(`${good}\n${short}`)).to.match(/^FILE, line 3: it ends in the middle/);
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

  describe("in XML", () => {
    const xml: FileSpec = { format: "xml", records: "list.shop" };

    it("have attributes, children, lists of repeated ones, and text, each by its name", async () => {
      const content = `<?xml version="1.0"?>
<!DOCTYPE list>
<list date="today"><other><shop id="0"/></other>
<shop id="1" lat="4850000">
  <town>Bourg &amp; Co &#233;</town><open/>
  <price id="1">1.5</price><price id="2">1.6</price>
</shop><shop><![CDATA[a<b]]></shop></list>`;
      expect(await read(content, xml)).to.deep.equal([
        [
          "line 4",
          {
            "@id": "1",
            "@lat": "4850000",
            town: "Bourg & Co é",
            open: "",
            price: [
              { "@id": "1", "#text": "1.5" },
              { "@id": "2", "#text": "1.6" },
            ],
          },
        ],
        ["line 7", { "#text": "a<b" }],
      ]);
    });

    const bomb = `<!DOCTYPE list [<!ENTITY a "x"><!ENTITY b "&a;&a;&a;&a;">]><list><shop>&b;</shop></list>`;
    for (const [what, content, words] of [
      ["entities of its own", bomb, /it defines entities of its own/],
      [
        "an entity that nobody defines",
        "<list>\n<shop>&x;</shop></list>",
        /line 2: this is not XML/,
      ],
      ["an end that is missing", "<list>\n<shop><town>A", /line 2: this is not XML \(unclosed tag/],
      ["no such element", "<list><store/></list>", /it has no element "list.shop"/],
      ["too much nesting", "<a>".repeat(1000), /nest too deeply/],
      [
        "an element without end",
        `<list><shop>${"x".repeat(9e6)}`,
        /one of its elements is too long/,
      ],
    ] as const)
      it(`are refused with their file for ${what}`, async () => {
        expect(await read(content, xml)).to.match(words);
      });
  });

  describe("of OpenStreetMap", () => {
    const tags = { amenity: "fuel", name: "Müller & Söhne" };
    const square = [1, 2, 3, 4].map((id) => ({
      id,
      lon: 1 + (id % 2) / 1000,
      lat: id > 2 ? 42.001 : 42,
    }));
    const members = [{ type: "way" as const, id: 11, role: "outer" }];
    const objects: OsmObjects = {
      nodes: [
        ...square,
        { id: 5, lon: 2, lat: 43, tags },
        { id: 6, lon: 2, lat: 43, tags: { shop: "x" } },
      ],
      ways: [
        { id: 10, refs: [1, 2, 3, 4, 1], tags },
        { id: 11, refs: [1, 2] },
        { id: 12, refs: [901, 902], tags: { "disused:amenity": "fuel" } },
      ],
      relations: [{ id: 20, tags, members }],
    };
    const overpass = [
      ...objects.nodes.map((node) => ({ type: "node", ...node })),
      ...objects.ways!.map(({ refs: nodes, ...way }) => ({ type: "way", nodes, ...way })),
      ...objects.relations!.map((one) => ({
        ...one,
        type: "relation",
        members: members.map(({ id: ref, ...member }) => ({ ...member, ref })),
      })),
    ];
    const escaped = (text: string): string => text.replace("&", "&amp;");
    const xmlTags = (all: Record<string, string> = {}): string =>
      Object.entries(all)
        .map(([k, v]) => `<tag k="${k}" v="${escaped(v)}"/>`)
        .join("");
    const osm = [
      '<?xml version="1.0" encoding="UTF-8"?>\n<osm version="0.6"><bounds minlat="1"/>',
      ...objects.nodes.map(
        (n) => `<node id="${n.id}" lat="${n.lat}" lon="${n.lon}">${xmlTags(n.tags)}</node>`,
      ),
      ...objects.ways!.map(
        (w) =>
          `<way id="${w.id}">${w.refs.map((id) => `<nd ref="${id}"/>`).join("")}${xmlTags(w.tags)}</way>`,
      ),
      `<relation id="20"><member type="way" ref="11" role="outer"/>${xmlTags(tags)}</relation></osm>`,
    ].join("\n");

    for (const [what, content, spec] of [
      [
        "Overpass JSON with all parts",
        JSON.stringify({ elements: overpass }),
        { format: "json", records: "elements" },
      ],
      ["an .osm file", osm, { format: "osm-xml" }],
      ["an .osm.pbf file", osmExtract(objects), { format: "osm-pbf" }],
      ["a plain .osm.pbf file", osmExtract(objects, true), { format: "osm-pbf" }],
    ] as const)
      it(`stand at the middle of their parts, in ${what}`, async () => {
        await writeFile(path, content);
        const found = (await collected(spec)).flatMap(({ value }) => {
          const { type, id, lat, lon, center, tags: of } = value;
          const named = of as Record<string, string>;
          return named["amenity"] === "fuel" || "disused:amenity" in named
            ? [{ type, id, at: center ?? (lat === undefined ? null : { lat, lon }) }]
            : [];
        });
        expect(found).to.have.deep.members([
          { type: "node", id: 5, at: { lat: 43, lon: 2 } },
          { type: "way", id: 10, at: { lat: 42.0005, lon: 1.0005 } },
          { type: "way", id: 12, at: null },
          { type: "relation", id: 20, at: { lat: 42, lon: 1.0005 } },
        ]);
      });

    it("are refused with their file when a block of it is garbled or cut", async () => {
      const whole = osmExtract(objects);
      expect(await read(whole.subarray(0, -20), { format: "osm-pbf" })).to.match(
        /in the middle of a block/,
      );
      expect(await read(Buffer.from("<osm/>"), { format: "osm-xml" })).to.match(/holds no objects/);
      // A number of nodes' ids that never ends.
      const ids = Buffer.alloc(11, 0xff);
      const group = Buffer.concat([Buffer.from([0x12, 15, 0x12, 13, 0x0a, 11]), ids]);
      const garbled = blockOf(
        "OSMData",
        Buffer.concat([Buffer.from("\n\b\n\0\n\u0004fuel"), group]),
      );
      expect(await read(Buffer.concat([whole, garbled]), { format: "osm-pbf" })).to.match(
        /blocks cannot be read/,
      );
    });
  });

  describe("in other bytes than plain UTF-8", () => {
    const csv: FileSpec = { format: "csv" };
    const text = "id,name\n1,Газпром № 5\n2,Ёлка\n";
    const rows = [
      ["line 2", { id: "1", name: "Газпром № 5" }],
      ["line 3", { id: "2", name: "Ёлка" }],
    ];
    const cp1251 = iconv.encode(text, "windows-1251");

    for (const [what, content, spec] of [
      ["windows-1251, named", cp1251, { encoding: "windows-1251" }],
      ["UTF-16 with a byte order mark", iconv.encode(text, "utf-16le", { addBOM: true }), {}],
      [
        "big-endian UTF-16",
        iconv.encode(text, "utf-16be", { addBOM: true }),
        { encoding: "utf-8" },
      ],
      ["gzip", gzipSync(text), {}],
      [
        "gzip in two parts",
        Buffer.concat([gzipSync("id,name\n1,Газпром № 5\n"), gzipSync("2,Ёлка\n")]),
        {},
      ],
      ["a zip", zipOf({ "a.csv": text }), {}],
      ["a zip of several", zipOf({ "a.csv": "x", "b/c.csv": text }), { member: "b/c.csv" }],
    ] as const)
      it(`are read from ${what}`, async () => {
        expect(await read(content, { ...csv, ...spec })).to.deep.equal(rows);
      });

    it("are read as XML declares, the euro of windows-1252 included", async () => {
      const xml = iconv.encode(
        '<?xml version="1.0" encoding="ISO-8859-1"?><l><s>café €</s></l>',
        "windows-1252",
      );
      expect(await read(xml, { format: "xml", records: "l.s" })).to.deep.equal([
        ["line 1", { "#text": "café €" }],
      ]);
    });

    const utf8 = Buffer.from(text);
    for (const [what, content, spec, words] of [
      [
        "another encoding than UTF-8",
        cp1251,
        {},
        /line 2: this is not UTF-8 text.*Or name the encoding/,
      ],
      [
        "UTF-8 under another name",
        utf8,
        { encoding: "windows-1251" },
        /line 2: this is UTF-8, not windows-1251/,
      ],
      [
        "one letter of UTF-8 under another name",
        Buffer.from("id,a\n1,é\n"),
        { encoding: "latin1" },
        /this is UTF-8, not windows-1252/,
      ],
      [
        "two encodings in one",
        Buffer.concat([cp1251, utf8]),
        { encoding: "windows-1251" },
        /line 5: this is UTF-8/,
      ],
      [
        "two encodings in one, the other way",
        Buffer.concat([utf8, cp1251]),
        {},
        /line 5: this is not UTF-8/,
      ],
      ["an encoding that nobody knows", cp1251, { encoding: "cp99" }, /"cp99" is not known/],
      ["NUL characters", "id,name\n1,\0\n", {}, /it has NUL characters/],
      [
        "UTF-16 without a mark",
        iconv.encode("id,name\n1,a\n", "utf-16le"),
        {},
        /NUL.*Is it UTF-16/,
      ],
      [
        "a web page",
        "<!DOCTYPE html><html><head><title>Log in</title>",
        {},
        /web page \(“Log in”\)/,
      ],
      ["gzip that is cut", gzipSync(text).subarray(0, -12), {}, /breaks off or is damaged/],
      [
        "a zip that is cut",
        zipOf({ "a.csv": text }).subarray(0, -30),
        {},
        /breaks off or is damaged/,
      ],
      [
        "several files in a zip",
        zipOf({ "a.csv": text, "b.csv": text }),
        {},
        /several files, but a.csv, b.csv/,
      ],
      [
        "another file in the zip",
        zipOf({ "a.csv": text }),
        { member: "b" },
        /no file "b", but a.csv/,
      ],
      ["a spreadsheet", zipOf({ "[Content_Types].xml": "" }), {}, /this is a spreadsheet/],
      ["bzip2", "BZh91AY&SY", {}, /compressed by bzip2.*bunzip2/],
      ["nothing", "", {}, /it is empty/],
      ["a gzip bomb", gzipSync(Buffer.alloc(9e6, `id\n${"1".repeat(999)}\n`)), {}, /200 times as/],
    ] as const)
      it(`are refused with their file for ${what}`, async () => {
        expect(await read(content, { ...csv, ...spec })).to.match(words);
      });

    it("are refused for a folder, and closed when nobody reads on", async () => {
      const folderFault = await asFault(folder.path, async () => {
        for await (const one of readRecords(folder.path, csv, () => undefined))
          expect(one).to.equal(null);
        return {};
      });
      expect(folderFault)
        .to.have.property("fault")
        .that.match(/this is a folder/);
      for (const content of [utf8, gzipSync(utf8), zipOf({ "a.csv": text })]) {
        await writeFile(path, content);
        for await (const [one] of readRecords(path, csv, () => undefined)) {
          expect(one!.value["id"]).to.equal("1");
          break;
        }
      }
    });
  });
});
