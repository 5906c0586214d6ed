import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { cloneProject, type Clone } from "#test/harness/clone.ts";

const ready = /Fuelmark is running at \S+:(\d+)/;

describe("npm start in rougher weather", function () {
  this.timeout(900_000);
  const clones: Clone[] = [];
  const clone = () => {
    const made = cloneProject();
    clones.push(made);
    return made;
  };
  afterEach(async () => {
    for (const each of clones.splice(0)) await each.drop();
  });

  it("runs in two clones at once", async () => {
    const both = [clone(), clone()].map((each) => each.start());
    const ports = [];
    for (const started of both) ports.push((await started.waitFor(ready, 120_000))[1]);
    expect(new Set(ports).size).to.equal(2);
    for (const started of both) started.signal("SIGINT");
    for (const started of both) expect(await started.exited).to.equal(0);
    expect(clones.flatMap((each) => each.processes())).to.deep.equal([]);
  });

  it("fills anew after it was stopped in the middle of filling", async () => {
    const one = clone();
    const first = one.start();
    await first.waitFor(/Filling/);
    first.signal("SIGINT");
    expect(await first.exited).to.equal(0);
    const second = one.start();
    await second.waitFor(/Filling/);
    await second.waitFor(ready);
    second.signal("SIGINT");
    await second.exited;
  });

  for (const delayMs of [300, 900, 1500, 2500]) {
    it(`leaves nothing when it is told to stop after ${delayMs} ms, and starts afterwards`, async () => {
      const one = clone();
      const first = one.start();
      await sleep(delayMs);
      first.signal("SIGINT");
      await first.exited;
      await sleep(500);
      expect(one.processes()).to.deep.equal([]);
      const second = one.start();
      await second.waitFor(ready);
      second.signal("SIGINT");
      await second.exited;
    });
  }

  it("starts a role again that was killed", async () => {
    const one = clone();
    const started = one.start();
    await started.waitFor(ready);
    const web = () => one.processes().find((line) => line.includes("dist/web.js")) ?? "";
    const killed = Number.parseInt(web(), 10);
    process.kill(killed, "SIGKILL");
    await started.waitFor(/\[web\] has ended \(SIGKILL\), starting it again/);
    const run = JSON.parse(readFileSync(join(one.folder, ".data/run.json"), "utf8")) as {
      port: number;
    };
    await answers(`http://127.0.0.1:${run.port}/readyz`);
    expect(Number.parseInt(web(), 10)).to.not.equal(killed);
    started.signal("SIGINT");
    expect(await started.exited).to.equal(0);
  });

  it("gives up with a word when a role cannot run at all", async () => {
    const one = clone();
    writeFileSync(join(one.folder, "workers/main.ts"), "process.exit(3);\n");
    const started = one.start();
    expect(await started.exited).to.equal(1);
    expect(started.output()).to.match(/The \w+ role keeps ending: see .*\.log/);
    expect(one.processes()).to.deep.equal([]);
  });

  it("ends everything when its Postgres is killed", async () => {
    const one = clone();
    const started = one.start();
    await started.waitFor(ready);
    const postgres = one.processes().find((line) => line.includes("postgres -D")) ?? "";
    process.kill(Number.parseInt(postgres, 10), "SIGKILL");
    expect(await started.exited).to.equal(1);
    expect(started.output()).to.include("PostgreSQL has ended");
    expect(one.processes()).to.deep.equal([]);
  });

  it("uses servers that are given, and leaves them running", async () => {
    const owner = clone();
    const servers = owner.start();
    await servers.waitFor(ready);
    const run = JSON.parse(readFileSync(join(owner.folder, ".data/run.json"), "utf8")) as {
      databaseUrl: string;
      redisUrl: string;
    };
    const guest = clone();
    const started = guest.start({ DATABASE_URL: run.databaseUrl, REDIS_URL: run.redisUrl });
    await started.waitFor(ready);
    expect(guest.processes().filter((line) => /postgres -D|redis-server/.test(line))).to.be.empty;
    started.signal("SIGINT");
    await started.exited;
    await answers(`${(await servers.waitFor(/running at (\S+)/))[1]}/readyz`);
    servers.signal("SIGINT");
    expect(await servers.exited).to.equal(0);
  });

  it("runs for root when only the clone's closed parent belongs to another user", async function () {
    if (process.getuid?.() !== 0) this.skip();
    const one = clone();
    execFileSync("chmod", ["700", one.folder]);
    execFileSync("chown", ["65534:65534", one.folder]);
    const started = one.start();
    await started.waitFor(ready);
    started.signal("SIGINT");
    expect(await started.exited).to.equal(0);
  });
});

async function answers(url: string): Promise<void> {
  for (const until = Date.now() + 120_000; ; await sleep(100)) {
    try {
      if ((await fetch(url)).ok) return;
    } catch {
      // Not yet.
    }
    if (Date.now() > until) throw new Error(`${url} does not answer`);
  }
}
