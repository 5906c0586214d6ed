import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { loadConfig } from "#src/config.ts";
import { createDb, rows, type Db } from "#src/db.ts";
import { importCities } from "#src/import/import-cities.ts";
import { importStations } from "#src/import/import-stations.ts";
import { isFault } from "#src/import/summary.ts";
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

  const options = (name: string) => ({
    path: folder + name,
    format: undefined,
    source: undefined,
    replaceSource: false,
    dryRun: false,
    progress: () => undefined,
    waiting: () => undefined,
  });
  const adds = (done: Awaited<ReturnType<typeof importStations>>, read: number) => {
    if (isFault(done)) throw new Error(done.fault);
    expect(done.read).to.equal(read);
    expect(done.added + done.changed + done.unchanged + done.merged + done.refused).to.equal(read);
    return done;
  };

  it("takes the Overpass extract of sixteen cities, and nothing of it twice", async () => {
    const first = adds(await importStations(db, options("ru_osm_fuel_16_cities.json")), 3020);
    expect(first.merged).to.be.within(10, 50);
    expect(first.reasons).to.have.all.keys("lpg-only");
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
    adds(await importStations(db, options("fi_nwru_osm_fuel_nodes.geojson")), 2264);
    const again = adds(await importStations(db, options("fi_nwru_osm_fuel_nodes.geojson")), 2264);
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
});
