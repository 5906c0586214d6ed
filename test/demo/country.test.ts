import { expect } from "chai";
import { demoCities } from "#demo/country/cities.ts";
import { fillDemoCountry } from "#demo/country/fill.ts";
import { createRandom } from "#demo/country/random.ts";
import { makeReporters } from "#demo/country/reporters.ts";
import { makeStations } from "#demo/country/stations.ts";
import { loadConfig } from "#src/infrastructure/config.ts";
import { createDb, rows, type Db } from "#src/infrastructure/db.ts";
import { distanceM } from "#src/domain/geo.ts";
import type { StationState } from "#src/domain/state.ts";
import { view } from "#src/domain/view.ts";
import { queues } from "#src/domain/vocabulary.ts";
import { createTestDatabase, type TestDatabase } from "#test/harness/database.ts";

describe("the demo country", () => {
  it("is the same at each making", () => {
    const made = makeStations(createRandom(1));
    expect(made).to.deep.equal(makeStations(createRandom(1)));
    expect(made).not.to.deep.equal(makeStations(createRandom(2)));
    expect(new Set(made.map(({ id }) => id)).size).to.equal(10_000);
  });

  it("has at least 60 different cities, each with stations near by", () => {
    expect(new Set(demoCities.map(({ name }) => name)).size).to.equal(demoCities.length);
    expect(demoCities.length).to.be.at.least(60);
    const stations = makeStations(createRandom(1));
    demoCities.forEach((city, index) => {
      const near = stations.filter((one) => one.city === index && distanceM(one, city) < 25_000);
      expect(near.length, city.name).to.be.at.least(10);
    });
  });

  it("has some independent reporters in each city", () => {
    const reporters = makeReporters(createRandom(1), Date.now());
    demoCities.forEach(({ name }, index) => {
      const apart = reporters
        .filter(({ city, grouped }) => city === index && !grouped)
        .map(({ firstSeen }) => firstSeen)
        .sort((a, b) => a - b);
      expect(apart.length, name).to.be.at.least(4);
      apart
        .slice(1)
        .forEach((at, next) => expect(at - (apart[next] ?? 0), name).to.be.greaterThan(600_000));
    });
  });

  describe("in a database", function () {
    let database: TestDatabase;
    let db: Db;

    before(async () => {
      database = await createTestDatabase();
      const config = loadConfig({ DATABASE_URL: database.databaseUrl, QUERY_TIMEOUT_MS: "60000" });
      db = createDb(config, "test", 4);
      await fillDemoCountry({ db, config, log: () => undefined });
    });
    after(async () => {
      await db.destroy();
      await database.drop();
    });

    it("shows every status, a pending, conflicts, every queue, prices and limits at once", async () => {
      const states = await rows<{ state: StationState }>(db, "select state from station_status");
      const shown = states.map(({ state }) => view(state, Date.now(), 24 * 3600_000));
      const count = (is: (fuel: (typeof shown)[number]) => boolean): number =>
        shown.filter(is).length;
      for (const status of ["yes", "low", "no", "queue"])
        expect(
          count((one) => one.status === status),
          status,
        ).to.be.greaterThan(300);
      for (const queue of queues)
        expect(
          count((one) => one.queue === queue),
          queue,
        ).to.be.greaterThan(50);
      expect(count((one) => one.status !== "nodata")).to.be.within(5000, 7500);
      expect(count((one) => one.status === "nodata" && one.updated !== "")).to.be.greaterThan(50);
      expect(count((one) => one.resolution_reason === "unconfirmed")).to.be.greaterThan(100);
      expect(count((one) => one.conflict !== null)).to.be.greaterThan(10);
      expect(count((one) => one.prices !== undefined)).to.be.greaterThan(500);
      expect(count((one) => one.limit_l !== null)).to.be.greaterThan(50);
      expect(count((one) => one.no_cash)).to.be.greaterThan(20);
      expect(count((one) => one.fuel_cards_only)).to.be.greaterThan(20);
    });

    it("leaves no mark unprocessed, and every station in the change feed", async () => {
      expect(
        await rows(db, "select id from marks where processed_at is null or failed_at is not null"),
      ).to.deep.equal([]);
      expect(await rows(db, "select count(*) from changes")).to.deep.equal([{ count: 10_000 }]);
    });
  });
});
