import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { cloneProject, type Clone, type Started } from "#test/harness/clone.ts";

const ready = /Fuelmark is running at (\S+)/;

describe("npm start", function () {
  this.timeout(900_000);
  let clone: Clone;
  let running: Started;
  let firstKey = "";
  before(() => {
    clone = cloneProject();
  });
  after(() => clone.drop());

  it("says which setting is bad instead of starting", async () => {
    const refused = clone.start({ PORT: "eighty", LOG_LEVEL: "loud" });
    await refused.waitFor(/bad settings: PORT must be an integer .*LOG_LEVEL must be one of/);
    expect(await refused.exited).to.equal(1);
  });

  it("goes from an empty folder to a running service", async () => {
    running = clone.start({ DEMO_TRICKLE: "false" });
    const [, baseUrl] = await running.waitFor(ready, 90_000);
    const run = JSON.parse(readFileSync(join(clone.folder, ".data/run.json"), "utf8")) as {
      pid: number;
      port: number;
      baseUrl: string;
    };
    expect(run).to.include({ pid: running.pid, baseUrl });
    expect(run.port).to.be.below(32_768);
  });

  it("prints a curl line that works as it stands", async () => {
    const [line] = await running.waitFor(/curl .*/);
    const answer = JSON.parse(await shell(line)) as { stations: unknown[] };
    expect(answer.stations).to.not.be.empty;
    firstKey = keyIn(running);
  });

  it("does not start twice in one folder, and says where it runs", async () => {
    const second = clone.start();
    const [, baseUrl] = await running.waitFor(ready);
    await second.waitFor(new RegExp(`already running.*${baseUrl}`));
    expect(await second.exited).to.equal(0);
  });

  it("stops everything on Ctrl-C", async () => {
    running.signal("SIGINT");
    expect(await running.exited).to.equal(0);
    expect(clone.processes()).to.deep.equal([]);
  });

  it("goes on with the same data and keys", async () => {
    running = clone.start({ DEMO_TRICKLE: "false" });
    await running.waitFor(ready);
    expect(keyIn(running)).to.equal(firstKey);
    const [line] = await running.waitFor(/curl .*/);
    expect((JSON.parse(await shell(line)) as { stations: unknown[] }).stations).to.not.be.empty;
  });

  it("leaves no role behind a launcher that was killed, and clears its servers at the next start", async () => {
    running.signal("SIGKILL");
    await running.exited;
    const roles = () => clone.processes().filter((line) => line.includes("--import"));
    for (const until = Date.now() + 10_000; Date.now() < until && roles().length > 0;) {
      await sleep(50);
    }
    expect(roles()).to.deep.equal([]);
    const left = clone.processes().map((line) => Number.parseInt(line, 10));

    running = clone.start({ DEMO_TRICKLE: "false" });
    await running.waitFor(ready);
    const now = clone.processes().map((line) => Number.parseInt(line, 10));
    expect(left.filter((pid) => now.includes(pid))).to.deep.equal([]);
    expect(keyIn(running)).to.equal(firstKey);
    running.signal("SIGTERM");
    expect(await running.exited).to.equal(0);
    expect(clone.processes()).to.deep.equal([]);
  });

  it("says in one sentence that a given server does not answer", async () => {
    const start = clone.start({ REDIS_URL: "redis://127.0.0.1:1" });
    expect(await start.exited).to.equal(1);
    expect(start.output()).to.match(
      /REDIS_URL is set, but no Redis answers there .*unset REDIS_URL/,
    );
    expect(clone.processes()).to.deep.equal([]);
  });
});

const keyIn = (started: Started): string => /svc_live_\w+/.exec(started.output())?.[0] ?? "none";

const shell = (line: string): Promise<string> =>
  new Promise((resolve, reject) => {
    execFile("sh", ["-c", line], { maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${line}\n${stderr}`, { cause: error }));
    });
  });
