import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { loadConfig } from "#src/infrastructure/config.ts";
import { createDb, rows } from "#src/infrastructure/db.ts";
import { cloneProject, type Clone, type Started } from "#test/harness/clone.ts";
import { runBlocks, shellBlocks } from "#test/harness/documents.ts";

describe("npm start with a country of one's own", () => {
  let clone: Clone;
  let running: Started;
  before(() => {
    clone = cloneProject();
  });
  after(() => clone.drop());

  const [start, ...others] = shellBlocks(readFileSync("docs/imports.md", "utf8")).filter(
    ({ under }) => under.includes("Your country in ten minutes"),
  );
  const args = start!.text.replace("npm start -- ", "").split(" ");

  it("says why a file cannot be taken, and makes nothing", async () => {
    const refused = clone.start({}, ["--file", "docs/samples/stations.csv", "--source", "mimit"]);
    await refused.waitFor(/there is no source of this name/, 200_000);
    expect(await refused.exited).to.equal(1);
    expect(clone.processes()).to.deep.equal([]);
    expect(existsSync(join(clone.folder, ".data"))).to.equal(false);
  });

  it("does what docs/imports.md promises in ten minutes, line by line", async () => {
    running = clone.start({}, args);
    await running.waitFor(/Fuelmark is running at (\S+)/, 200_000);
    expect(running.output()).to.contain("3 stations (3 new, 0 changed); left out: ");
    const run = JSON.parse(readFileSync(join(clone.folder, ".data/run.json"), "utf8")) as {
      databaseUrl: string;
    };
    const ran = await runBlocks(others, clone.folder);
    const said = ran.get("Your country in ten minutes")!;
    expect(said).to.contain("csv: 2 stations of 3 records; left out no-position 1");
    expect(said).to.contain("Done (my-country");
    expect(said).to.contain("a good description");
    const db = createDb(loadConfig({ DATABASE_URL: run.databaseUrl }), "test", 1);
    try {
      const sql =
        "select id, grades_sold, source from stations where removed_at is null order by id";
      expect(await rows(db, sql)).to.deep.equal([
        { id: "it-mimit-101", grades_sold: "95,ДТ", source: "it-mimit" },
        { id: "it-mimit-102", grades_sold: "ДТ", source: "it-mimit" },
        { id: "it-mimit-103", grades_sold: "95,100,ДТ", source: "it-mimit" },
        { id: "my-country-A-1", grades_sold: "95,ДТ", source: "my-country" },
        { id: "my-country-A-2", grades_sold: "95,98,ДТ", source: "my-country" },
      ]);
    } finally {
      await db.destroy();
    }
    expect(readFileSync(join(clone.folder, "refused.csv"), "utf8")).to.contain("line 4,A-3,");
    const [line] = /curl .*/.exec(running.output())!;
    const [, area] = /bbox=([\d.,-]+)/.exec(line)!;
    expect(area).to.equal("44.93,7.50,45.23,7.80");
    running.signal("SIGINT");
    expect(await running.exited).to.equal(0);
  });
});
