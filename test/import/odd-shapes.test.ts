import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { openOsmFile } from "#src/import/osm-file.ts";
import { asFault, isFault } from "#src/import/read-text.ts";
import { type FileSpec, readRecords } from "#src/import/records.ts";
import { sourceFromMap } from "#src/import/source-list.ts";
import { trySource } from "#src/import/try-source.ts";
import { blockOf } from "#test/harness/osm-extract.ts";
import { useFolder } from "#test/harness/use.ts";

// Each took minutes or hundreds of megabytes.
describe("files of an odd shape are refused by name", () => {
  const folder = useFolder();
  const faultOf = async (text: string | Buffer, read: (path: string) => Promise<unknown>) => {
    const path = join(folder.path, "file");
    await writeFile(path, text);
    const done = await asFault(path, async () => ({ read: await read(path) }));
    return isFault(done) ? done.fault : "";
  };
  const source = sourceFromMap("id=id,lat=lat,lon=lon,name=name");
  const tried = (path: string) => trySource(source, [path]);

  it("more stations at one place than any place has", async () => {
    const rows = (count: number): string =>
      Array.from({ length: count }, (_, n) => `${n},50.${n % 2},30,Same\n`).join("");
    expect(await faultOf(`id,lat,lon,name\n${rows(124)}`, tried)).to.include(
      "more than 60 of its stations stand within 40 m of 50 30",
    );
    expect(await faultOf(`id,lat,lon,name\n${rows(122)}`, tried)).to.equal("");
  });

  it("more columns than any table has", async () => {
    const table = (columns: number): string => {
      const more = Array.from({ length: columns - 4 }, (_, n) => `c${n}`);
      return `id,lat,lon,name,${more.join()}\n1,50,30,A,${more.join()}\n`;
    };
    expect(await faultOf(table(5001), tried)).to.include("it has 5001 columns");
    expect(await faultOf(table(5000), tried)).to.equal("");
  });

  it("a string of many quotes that does not end, and one object with many empty lines behind it", async () => {
    const read = (spec: FileSpec) => async (path: string) => {
      const records: number[] = [];
      for await (const some of readRecords(path, spec, () => undefined)) records.push(some.length);
      return records;
    };
    const quotes = `{"id":12345678901234567,"name":"${String.raw`\"`.repeat(1_000_000)}`;
    expect(await faultOf(quotes, read({ format: "ndjson" }))).to.include("record 1 is not JSON");
    const object = `{"id":1}${"\n".repeat(250_000)}`;
    expect(await faultOf(object, read({ format: "json" }))).to.include("no list at the top");
  });

  it("a block of an extract that unpacks to a thousand times its size", async () => {
    const file = (bytes: number): Buffer =>
      Buffer.concat([
        blockOf("OSMHeader", Buffer.alloc(0)),
        blockOf("OSMData", Buffer.alloc(bytes)),
      ]);
    const read = async (path: string): Promise<void> => {
      const extract = await openOsmFile(path);
      try {
        for await (const [, content] of extract.all(() => undefined))
          expect(content.length).to.be.above(0);
      } finally {
        await extract.close();
      }
    };
    expect(await faultOf(file(5_000_000), read)).to.include("more than 200 times as large");
    expect(await faultOf(file(3_000_000), read)).to.equal("");
  });
});
