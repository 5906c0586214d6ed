import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { loadConfig } from "#src/infrastructure/config.ts";
import { rows, type Db } from "#src/infrastructure/db.ts";
import { importSource } from "#src/import/import-source.ts";
import { isFault } from "#src/import/read-text.ts";
import { readSource, type Source } from "#src/import/source.ts";
import { trySource } from "#src/import/try-source.ts";
import { useFolder, useInstance } from "#test/harness/use.ts";

interface Row {
  id: number;
  lat: number;
  lon: number;
}

/** Stations of a plain table around a point, about 1 km apart. */
const around = (lat: number, lon: number, count = 12): Row[] =>
  Array.from({ length: count }, (_, n) => ({ id: n + 1, lat: lat + n / 100, lon }));
const rome = around(41.9, 12.5);
const swap = ({ id, lat, lon }: Row): Row => ({ id, lat: lon, lon: lat });

function sourceOf(country?: string): Source {
  const read = readSource({
    ...{ name: "test", title: "A test", ...(country === undefined ? {} : { country }) },
    files: [{ name: "stations", read: { format: "csv" } }],
    fields: { id: "id", lat: "lat", lon: "lon", name: "id" },
  });
  if ("faults" in read) throw new Error(read.faults.join());
  return read.source;
}

describe("guards of whole files", () => {
  const instance = useInstance();
  let db: Db;
  const folder = useFolder();
  let path: string;
  before(async () => {
    ({ db } = instance);
    path = join(folder.path, "file.csv");
  });
  beforeEach(() => db.raw("truncate changes, stations cascade"));

  interface More {
    country?: string;
    label?: string;
    force?: string[];
    replaceSource?: boolean;
    allowRemovals?: number;
  }
  const run = async (file: readonly Row[], { country, ...more }: More = {}) => {
    const lines = file.map(({ id, lat, lon }) => `${id},${lat},${lon}`);
    await writeFile(path, ["id,lat,lon", ...lines, ""].join("\n"));
    return importSource(db, loadConfig({ DATABASE_URL: instance.databaseUrl }), {
      ...{ source: sourceOf(country), paths: [path], dryRun: false, ...more },
      ...{ progress: () => undefined, waiting: () => undefined, touched: () => undefined },
    });
  };
  /** The stations' part of the summary, or the words of the fault. */
  const result = async (file: readonly Row[], more?: More) => {
    const done = await run(file, more);
    return isFault(done) ? done.fault.replace(path, "FILE") : done.stations!;
  };
  const stored = () =>
    rows<{ id: string; version: string }>(
      db,
      "select id, xmin::text || updated_at::text as version from stations order by id",
    );

  const cases: [what: string, file: Row[], more: More, name: string, fault: RegExp][] = [
    [
      "are swapped, in the source's country",
      rome.map(swap),
      { country: "IT" },
      "swapped",
      /^FILE: latitude and longitude are swapped: 12 of 12 stations are not in IT \(12 of them in ET\); nothing was changed. Give each to its own field/,
    ],
    [
      "are in another country than the source's",
      around(48.8, 2.3),
      { country: "IT" },
      "country",
      /^FILE: 12 of 12 stations are not in IT \(12 of them in FR\); nothing was changed/,
    ],
    [
      "are in the sea, where no country is known",
      around(5, -130),
      {},
      "country",
      /^FILE: 12 of 12 stations are not in any country \(12 of them in the sea\)/,
    ],
  ];
  for (const [what, file, more, name, fault] of cases)
    it(`refuse positions that ${what}, unless they are overridden by name`, async () => {
      const refused = await result(file, more);
      expect(refused).to.match(fault).and.include(`\`--force ${name}\``);
      expect(await stored()).to.deep.equal([]);
      // What is forced is the guard of the file: a row outside of the declared country is refused by itself.
      if (more.country === undefined)
        expect(await result(file, { ...more, force: [name] })).to.include({ added: 12 });
    });

  it("compare with the countries of the instance where the source names none, and with where a station was", async () => {
    expect(await result(rome)).to.include({ added: 12 });
    const before = await stored();
    const elsewhere = await result(around(48.8, 2.3), { label: "other" });
    expect(elsewhere).to.match(
      /12 of 12 stations are not in IT \(12 of them in FR\).*--force country/,
    );
    const swapped = await result(rome.map(swap));
    expect(swapped).to.match(
      /latitude and longitude are swapped: 12 of 12 known stations would move by more than 20 km.*--force swapped/,
    );
    const far = await result(around(45, 9));
    expect(far).to.match(/12 of 12 known stations would move by more than 20 km.*--force moved/);
    expect(await stored()).to.deep.equal(before);
    const force = ["moved"];
    expect(await result(around(45, 9), { force })).to.include({ changed: 12 });
    expect(await result(around(48.8, 2.3), { label: "other", force: ["country"] })).to.include({
      added: 12,
    });
  });

  it("leave out a few stations abroad by name, and keep those at the border and at the coast", async () => {
    const paris = { id: 99, lat: 48.85, lon: 2.35 };
    // Chiasso lies 2 km north of the border.
    const border = { id: 100, lat: 45.832, lon: 9.031 };
    const done = await result([...rome, paris, border], { country: "IT" });
    expect(done).to.include({ added: 13, refused: 1 });
    expect(done).to.have.property("reasons").that.deep.equals({ "other-country": 1 });
  });

  it("take a territory for itself and for a part of its country, as trying the source does", async () => {
    const [hongKong, canton] = [around(22.3, 114.17), around(23.13, 113.26)];
    const réunion = around(-21.1, 55.5).map((row) => ({ ...row, id: row.id + 100 }));
    // By the coarse borders these lie in Argentina.
    const futaleufú = Array.from({ length: 12 }, (_, n) => ({
      ...{ id: n + 1, lat: -43.185 + n / 300, lon: -71.88 },
    }));
    const accepted: [Row[], string, boolean][] = [
      [hongKong, "HK", true],
      [hongKong, "CN", true],
      [canton, "HK", false],
      [réunion, "FR", true],
      [rome, "RE", false],
      [futaleufú, "CL", true],
    ];
    for (const [file, country, isRight] of accepted) {
      await db.raw("truncate changes, stations cascade");
      const done = await run(file, { country });
      expect(!isFault(done) && done.stations?.added === file.length, country).to.equal(isRight);
      const { verdict } = await trySource(sourceOf(country), [path]);
      expect(verdict, country).to.match(isRight ? /^Good/ : /^Doubtful: 12 stations are not in/);
    }
    // An instance of Hong Kong is not one of China.
    await db.raw("truncate changes, stations cascade");
    expect(await result(hongKong)).to.include({ added: 12 });
    expect(await result(canton, { label: "other" })).to.match(
      /12 of 12 stations are not in HK \(12 of them in CN\)/,
    );
  });

  it("refuse a file whose positions are in metres", async () => {
    const metres = rome.map(({ id }) => ({ id, lat: 5_146_011 + id, lon: 1_391_494 }));
    expect(await result(metres)).to.match(
      /12 of its 12 positions are in metres, as in EPSG:3857.*ogr2ogr -t_srs EPSG:4326/,
    );
  });

  it("refuse a register with fewer than half of its stations, and many removals from a small source", async () => {
    expect(await result(around(41.9, 12.5, 74))).to.include({ added: 74 });
    const half = await result(around(41.9, 12.5, 36));
    expect(half).to.match(/it has 36 stations, and the source "test" had 74.*--force half/);
    expect(await result(around(41.9, 12.5, 36), { force: ["half"] })).to.include({ removed: 0 });
    const replaceSource = true;
    expect(await result(around(41.9, 12.5, 1), { replaceSource })).to.match(
      /73 of the 74 stations of source "test" are not in the file.*allow 73 removals/,
    );
    expect(await result(around(41.9, 12.5, 64), { replaceSource })).to.include({ removed: 10 });
    expect(await result(around(41.9, 12.5, 10), { replaceSource, force: ["removals"] })).to.include(
      { removed: 54 },
    );
  });

  it("let a file that says the same write not one row", async () => {
    await result(rome);
    const before = await stored();
    expect(await result(rome)).to.include({ unchanged: 12, added: 0, changed: 0 });
    expect(await stored()).to.deep.equal(before);
  });
});
