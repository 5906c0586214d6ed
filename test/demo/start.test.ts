import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { claimWebPort, somePort } from "#demo/servers/port.ts";
import type { StationState } from "#src/domain/state.ts";
import { view } from "#src/domain/view.ts";
import { queues } from "#src/domain/vocabulary.ts";
import { loadConfig } from "#src/infrastructure/config.ts";
import { createDb, rows, type Db } from "#src/infrastructure/db.ts";
import { cloneProject, type Clone, type Started } from "#test/harness/clone.ts";
import { sized } from "#test/harness/long.ts";
import { spawnOperatorOf } from "#test/harness/operator.ts";

/** Most of the time of a first start goes into the country. */
const stations = sized(1000, 10_000);
/** Of the whole country, as many of this one. */
const part = (count: number): number => (count * stations) / 10_000;

// Second starts, kills and every line of the documents: test/long.
describe("npm start, once", () => {
  let clone: Clone;
  let running: Started;
  let db: Db | undefined;
  before(() => {
    clone = cloneProject();
  });
  after(async () => {
    await db?.destroy();
    await clone.drop();
  });

  it("goes from an empty folder to a running service, beside one that has its port", async () => {
    const other = await claimWebPort(await somePort());
    const given = { DEFAULT_RPM: "777", WEBHOOK_HTTP: "true", PORT: String(other.port) };
    running = clone.start({ DEMO_TRICKLE: "false", DEMO_STATIONS: String(stations), ...given });
    const [, baseUrl] = await running.waitFor(/Fuelmark is running at (\S+)/, 200_000);
    await other.letGo();
    const taken = new RegExp(`^Port ${other.port} is taken: this instance uses \\d+\\.$`, "m");
    expect(running.output()).to.match(taken);
    const run = JSON.parse(readFileSync(join(clone.folder, ".data/run.json"), "utf8")) as {
      databaseUrl: string;
    };
    expect(run).to.include({ pid: running.pid, baseUrl });
    const config = loadConfig({ DATABASE_URL: run.databaseUrl, QUERY_TIMEOUT_MS: "60000" });
    db = createDb(config, "test", 1);
  });

  it("shows every status, a pending, conflicts, every queue, prices and limits at once in its country", async () => {
    const states = await rows<{ state: StationState }>(db!, "select state from station_status");
    const shown = states.map(({ state }) => view(state, Date.now(), 24 * 3600_000));
    const count = (is: (fuel: (typeof shown)[number]) => boolean): number =>
      shown.filter(is).length;
    for (const status of ["yes", "low", "no", "queue"])
      expect(
        count((one) => one.status === status),
        status,
      ).to.be.greaterThan(part(300));
    for (const queue of queues)
      expect(
        count((one) => one.queue === queue),
        queue,
      ).to.be.greaterThan(part(50));
    expect(count((one) => one.status !== "nodata")).to.be.within(part(5000), part(7500));
    expect(count((one) => one.status === "nodata" && one.updated !== "")).to.be.greaterThan(
      part(50),
    );
    expect(count((one) => one.resolution_reason === "unconfirmed")).to.be.greaterThan(part(100));
    expect(count((one) => one.conflict !== null)).to.be.greaterThan(part(10));
    expect(count((one) => one.prices !== undefined)).to.be.greaterThan(part(500));
    expect(count((one) => one.limit_l !== null)).to.be.greaterThan(part(50));
    expect(count((one) => one.no_cash)).to.be.greaterThan(part(20));
    expect(count((one) => one.fuel_cards_only)).to.be.greaterThan(part(20));
  });

  it("leaves no mark unprocessed, and every station in the change feed", async () => {
    expect(
      await rows(db!, "select id from marks where processed_at is null or failed_at is not null"),
    ).to.deep.equal([]);
    expect(await rows(db!, "select count(*) from changes")).to.deep.equal([{ count: stations }]);
  });

  it("has a command line that works with its settings", async () => {
    const operator = (...args: string[]) =>
      spawnOperatorOf(clone.folder, { DATABASE_URL: "" }, ...args, "--json");
    const list = (await operator("config")).json as { setting: string; value: unknown }[];
    const told = (name: string) => list.find(({ setting }) => setting === name);
    expect(told("DEFAULT_RPM")).to.include({ value: 777, source: "npm start" });
    expect(told("WEBHOOK_HTTP")).to.include({ value: true, source: "npm start" });
    expect(told("DEMO_STATIONS")).to.include({ value: stations, source: "npm start" });
    expect((await operator("partner", "create", "--name", "x")).json).to.include({ rpm: 777 });
    expect(statSync(join(clone.folder, ".data/run.json")).mode & 0o777).to.equal(0o600);
  });

  it("stops everything on Ctrl-C", async () => {
    await db?.destroy();
    db = undefined;
    running.signal("SIGINT");
    expect(await running.exited).to.equal(0);
    expect(clone.processes()).to.deep.equal([]);
  });
});
