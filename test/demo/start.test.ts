import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { cloneProject, type Clone, type Started } from "#test/harness/clone.ts";
import { newcomerBlocks, runBlocks } from "#test/harness/documents.ts";

// Second starts, kills and every other line of the documents: test/long.
describe("npm start, once", () => {
  let clone: Clone;
  let running: Started;
  before(() => {
    clone = cloneProject();
  });
  after(() => clone.drop());

  it("goes from an empty folder to a running service", async () => {
    running = clone.start({ DEMO_TRICKLE: "false" });
    const [, baseUrl] = await running.waitFor(/Fuelmark is running at (\S+)/, 200_000);
    const run = JSON.parse(readFileSync(join(clone.folder, ".data/run.json"), "utf8")) as object;
    expect(run).to.include({ pid: running.pid, baseUrl });
  });

  it("has a country, keys and a command line with which the README's first five minutes work", async () => {
    const ran = await runBlocks(newcomerBlocks(), clone.folder);
    expect(ran.get("As an engineer who reads the whole country")).to.match(/^304$/m);
    expect(ran.get("As an engineer who forwards marks")).to.contain('"accepted":true');
    expect(ran.get("As an operator")).to.contain("Usage: operator");
  });

  it("stops everything on Ctrl-C", async () => {
    running.signal("SIGINT");
    expect(await running.exited).to.equal(0);
    expect(clone.processes()).to.deep.equal([]);
  });
});
