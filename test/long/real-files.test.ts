import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { createClock } from "#src/infrastructure/clock.ts";
import { loadConfig } from "#src/infrastructure/config.ts";
import { createDb, rows, type Db } from "#src/infrastructure/db.ts";
import { importCities } from "#src/import/import-cities.ts";
import { importSource } from "#src/import/import-source.ts";
import { importStations, usualImport } from "#test/harness/import-stations.ts";
import { importStatuses } from "#src/import/import-statuses.ts";
import { isFault } from "#src/import/read-text.ts";
import { sourceNamed } from "#src/import/source-list.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { processStations } from "#workers/marks/process.ts";
import { createTestDatabase, type TestDatabase } from "#test/harness/database.ts";

// Real extracts are too large and too differently licensed for this repository: used where they lie beside it.
const folder = fileURLToPath(new URL("../../../shared/data/", import.meta.url));

describe("importing real files", () => {
  let database: TestDatabase;
  let db: Db;

  before(async function () {
    if (!existsSync(folder)) {
      console.log("      skipped: no folder ../shared/data with real extracts");
      this.skip();
    }
    database = await createTestDatabase();
    db = createDb(loadConfig({ DATABASE_URL: database.databaseUrl }), "test", 4);
  });
  after(async () => {
    await db?.destroy();
    await database?.drop();
  });

  // A guard asks about a country beside another one.
  beforeEach(() => db.raw("truncate changes, stations cascade"));

  const options = (name: string) => ({ ...usualImport, path: folder + name });
  const adds = (done: Awaited<ReturnType<typeof importStations>>, read: number) => {
    if (isFault(done)) throw new Error(done.fault);
    expect(done.read).to.equal(read);
    expect(done.added + done.changed + done.unchanged + done.merged + done.refused).to.equal(read);
    return done;
  };

  it("takes the Overpass extract of sixteen cities, and nothing of it twice", async () => {
    const first = adds(await importStations(db, options("ru_osm_fuel_16_cities.json")), 3020);
    expect(first.merged).to.be.within(10, 50);
    expect(first.reasons).to.include.keys("lpg-only");
    expect(first.reasons["lpg-only"]).to.be.within(314, 400);
    const again = adds(await importStations(db, options("ru_osm_fuel_16_cities.json")), 3020);
    expect(again).to.include({ added: 0, changed: 0, removed: 0, unchanged: first.added });
    const spellings = await rows<{ brand: string }>(
      db,
      "select distinct brand from stations where brand ~* '(лукойл|lukoil|газпром *нефть|irbis|Independent|новосибирск)'",
    );
    expect(spellings.map(({ brand }) => brand).sort()).to.deep.equal([
      "IRBIS",
      "Газпромнефть",
      "Лукойл",
    ]);
  });

  it("takes the GeoJSON extract, and nothing of it twice", async () => {
    const fi = options("fi_nwru_osm_fuel_nodes.geojson");
    adds(await importStations(db, fi), 2264);
    const again = adds(await importStations(db, fi), 2264);
    expect(again).to.include({ added: 0, changed: 0 });
  });

  it("takes all cities of the CSV, each with a name", async () => {
    expect(adds(await importCities(db, options("ru_cities_hflabs.csv")), 1117)).to.include({
      added: 1117,
      refused: 0,
    });
    expect(adds(await importCities(db, options("ru_cities_hflabs.csv")), 1117)).to.include({
      unchanged: 1117,
    });
  });

  const importAll = async (name: string, files: readonly string[], label?: string) => {
    const done = await importSource(db, loadConfig({ DATABASE_URL: database.databaseUrl }), {
      ...{
        source: sourceNamed(name)!,
        paths: files.map((file) => folder + file),
        label,
        dryRun: false,
      },
      ...{ progress: () => undefined, waiting: () => undefined, touched: () => undefined },
    });
    if (isFault(done)) throw new Error(done.fault);
    return { ...done, stations: adds(done.stations!, done.stations!.read) };
  };

  it("takes the Italian register with its prices, where petrol is sold whatever the name says", async () => {
    const files = ["it_mimit_20260821_prezzi.csv", "it_mimit_20260821_anagrafica.csv"];
    const first = await importAll("it-mimit", files);
    // 30 sell gas alone; some of them are beside a station that sells petrol, and one with it.
    expect(first.stations.reasons).to.have.all.keys("lpg-only");
    expect(first.stations.refused).to.be.within(20, 30);
    expect(first.stations.added).to.be.within(2350, 2519);
    expect(first.unknown_fuels).to.deep.equal({});
    const sold = await rows<{ grades_sold: string; count: number }>(
      db,
      "select grades_sold, count(*) from stations where source = 'it-mimit' group by 1 order by 2 desc",
    );
    expect(sold[0]).to.include({ grades_sold: "95,ДТ" });
    expect(sold.map((row) => row.grades_sold)).to.include.members(["", "95,98,ДТ", "95,100,ДТ"]);
    const again = await importAll("it-mimit", files.toReversed());
    expect(again.stations).to.include({ added: 0, changed: 0, removed: 0 });
  }).timeout(120_000);

  it("takes an extract of a whole country in its packed form, and nothing of it twice", async () => {
    const first = await importAll("osm", ["ad_osm_andorra.osm.pbf"], "ad");
    expect(first.stations.format).to.equal("osm-pbf");
    expect(first.stations.added).to.be.within(15, 80);
    const again = await importAll("osm", ["ad_osm_andorra.osm.pbf"], "ad");
    expect(again.stations).to.include({ added: 0, changed: 0, unchanged: first.stations.added });
  }).timeout(60_000);

  it("takes the French stations, whose prices are those of a day", async () => {
    const files = ["stations", "prix", "ruptures"].map((name) => `fr_20221012_${name}.csv`);
    const first = await importAll("fr-prix-carburants-csv", files);
    expect(first.stations).to.include({ read: 13_509 });
    // All stock-outs are years old today.
    expect(first.statuses).to.include({ added: 0, read: 40_885 });
    expect((await importAll("fr-prix-carburants-csv", files)).stations).to.include({
      added: 0,
      changed: 0,
    });
  }).timeout(240_000);

  it("seeds the stations that were out of fuel in France on the day of the file, in the numbers of its lines", async () => {
    // 12 October 2022, 03:00 in Paris: clocks of processes and of SQL are set to it.
    const clockOffsetS = Math.floor((Date.UTC(2022, 9, 12, 1) - Date.now()) / 1000);
    const url = database.databaseUrl;
    const config = { ...loadConfig({ DATABASE_URL: url }), clockOffsetS };
    const then = createDb(config, "test", 4);
    try {
      await then.raw("truncate stations, station_status, changes, seeds cascade");
      const text = await readFile(`${folder}fr_20221012_stations.csv`, "utf8");
      const lines = text
        .trim()
        .split(/\r?\n/)
        .slice(1)
        .map((line) => line.split(","));
      const placed = lines.filter(
        ([, lat, lon]) => Number(lat) !== 0 && Number(lon) !== 0 && lat !== "",
      );
      await then.raw(
        `insert into stations (id, source, lat, lon)
         select 'n' || id, 'test', lat, lon from unnest(?::text[], ?::float8[], ?::float8[]) as s(id, lat, lon)`,
        [
          placed.map(([id]) => id),
          placed.map(([, lat]) => lat),
          placed.map(([, , lon]) => lon),
        ] as never,
      );
      const touched: string[] = [];
      const run = async () => {
        const done = await importStatuses(then, config, {
          path: `${folder}fr_20221012_ruptures.csv`,
          stationsPath: `${folder}fr_20221012_stations.csv`,
          format: "fr-ruptures",
          source: "fr",
          maxAgeMs: 24 * 3_600_000,
          notSoldMs: 30 * 24 * 3_600_000,
          asOf: null,
          dryRun: false,
          progress: () => undefined,
          waiting: () => undefined,
          touched: (ids) => touched.push(...ids),
        });
        if (isFault(done)) throw new Error(done.fault);
        const { read, added, changed, unchanged, merged, refused } = done;
        expect(read).to.equal(40_885);
        expect(added + changed + unchanged + merged + refused).to.equal(read);
        return done;
      };
      const first = await run();
      expect(first.added).to.be.within(1700, 1830);
      expect(first.reasons["other-fuel"]).to.equal(8265 + 8451);
      expect(await run()).to.include({ added: 0, changed: 0, unchanged: first.added });
      const kinds = await rows<{ status: string; count: number }>(
        then,
        "select status, count(*) from seeds group by 1 order by 1",
      );
      expect(kinds.map((row) => row.status)).to.deep.equal(["low", "no"]);
      expect(touched).to.have.length(first.added);

      const deps = {
        db: then,
        config,
        clock: createClock(config),
        log: createLog({ logLevel: "silent" }, "test"),
      };
      for (let from = 0; from < touched.length; from += 200)
        await processStations(deps, touched.slice(from, from + 200));
      const served = await rows<{ status: string; count: number }>(
        then,
        "select status, count(*) from station_status where not refold and state is not null group by 1 order by 1",
      );
      expect(served).to.deep.equal(kinds);
    } finally {
      await then.destroy();
    }
  }).timeout(60_000);
});
