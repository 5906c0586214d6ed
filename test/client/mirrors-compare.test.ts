import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect } from "chai";
import { digestOf } from "#client/digest.ts";
import { fileStore } from "#client/file-store.ts";
import { mirror, type Mirror, type MirrorOptions } from "#client/mirror.ts";
import type { Station } from "#client/types.ts";
import { rows } from "#src/infrastructure/db.ts";
import { type Client, createClient, until } from "#test/flow/client.ts";
import { type Country, openCountry, type Place } from "#test/flow/country.ts";
import { copyTestDatabase, type TestDatabase } from "#test/harness/database.ts";
import { createTestInstance, type TestInstance } from "#test/harness/instance.ts";
import { hold } from "#test/harness/leaks.ts";
import { type RunningRole, startRole } from "#test/harness/roles.ts";

/** Near 0°, where programming languages write numbers in different ways. */
const placeOf = (n: number): Place => ({
  id: `n${1000 + n}`,
  lat: n * 0.003 + 1.23456e-6,
  lon: n % 2 === 0 ? -7e-7 : 0.00003,
});
const count = 20;

/** Keeps a copy as a partner would, and says at each line that it is sent what it holds now. */
const program = `
import json, sys, threading
from fuelmark_mirror import Mirror
mirror = Mirror(sys.argv[1], sys.argv[2], path=sys.argv[3], compare_s=0.2)
def follow():
    for changes in mirror.follow(poll_s=0.1):
        pass
def move():
    for line in sys.stdin:
        if line.startswith("http"):
            mirror._base = line.strip() + "/api/v1/partner"
        print(json.dumps(list(mirror.stations.values())), flush=True)
threading.Thread(target=follow, daemon=True).start()
move()
`;
import { useFolder } from "#test/harness/use.ts";

describe("copies that are wrong without knowing it", () => {
  let instance: TestInstance;
  let other: TestInstance;
  let country: Country;
  let backup: TestDatabase;
  const folder = useFolder();
  let file: string;
  let marks: RunningRole;
  let web: RunningRole;
  /** The service as it is after the backup was restored. */
  let restored: RunningRole;
  let client: Client;
  const open: Mirror[] = [];
  const children: ChildProcess[] = [];

  before(async () => {
    instance = await createTestInstance();
    country = await openCountry(instance.config, count, { placeOf, cities: [] });
    // A delta repeats the last seconds, and would mend on its own what was imported in them.
    await rows(country.db, "update changes set at = at - interval '1 hour'");
    await country.close();
    backup = await copyTestDatabase(instance.databaseUrl);
    other = await createTestInstance({ DATABASE_URL: backup.databaseUrl });
    [web, marks, restored] = await Promise.all([
      startRole("web", instance.env),
      startRole("marks", instance.env),
      startRole("web", other.env),
    ]);
    client = createClient(web.baseUrl, country.secret);
    for (let n = 0; n < 5; n++) {
      const { body } = await client.mark(placeOf(n), `compare-${n}`, { status: "yes" });
      expect(body.published.outcome).to.equal("published");
    }
  });
  beforeEach(() => {
    file = join(folder.path, `${Math.random()}.json`);
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((one) => one.stop()));
    for (const child of children.splice(0)) {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
  });
  after(async () => {
    await Promise.all([web, marks, restored].map((role) => role?.stop()));
    await backup?.drop();
    await other?.drop();
    await instance?.drop();
  });

  const wholeOf = async (role: RunningRole): Promise<Station[]> =>
    (await createClient(role.baseUrl, country.secret).get("/stations/all")).body.stations;
  const sorted = (stations: Iterable<Station>): Station[] =>
    [...stations].sort((a, b) => (a.id < b.id ? -1 : 1));
  const start = (options: Partial<MirrorOptions> = {}): Mirror => {
    const settings = { baseUrl: web.baseUrl, key: country.secret, pollMs: 100, compareMs: 200 };
    const one = mirror({ ...settings, store: fileStore(file), saveMs: 0, ...options });
    open.push(one);
    return one;
  };
  /** Both files name the stations and the time up to which they are right; damage leaves both readable. */
  const damage = async (): Promise<void> => {
    const state = JSON.parse(await readFile(file, "utf8")) as { stations: Station[] };
    const [first, second] = sorted(state.stations) as [Station, Station];
    first.fuel.status = "no";
    state.stations = state.stations.filter((one) => one !== second);
    await writeFile(file, JSON.stringify(state));
  };

  it("have the digest that the delta says as long as they are right", async () => {
    const since = new Date().toISOString();
    const { body } = await client.get(`/stations/delta?updated_since=${since}`);
    expect(body.digest).to.equal(await digestOf(await wholeOf(web)));
    expect(body.digest).to.not.equal(await digestOf(await wholeOf(restored)));
  });

  for (const stream of [false, true])
    it(`heal when the database was restored behind their back, by ${stream ? "stream" : "polls"}`, async () => {
      let to = web;
      const errors: string[] = [];
      const copy = start({
        stream,
        onError: (error) => errors.push((error as Error).message),
        fetch: (url, init) => fetch(url.replace(web.baseUrl, to.baseUrl), init),
      });
      await copy.ready();
      expect(sorted(copy.stations.values())).to.deep.equal(sorted(await wholeOf(web)));
      const wanted = sorted(await wholeOf(restored));
      to = restored;
      await until(
        async () => sorted(copy.stations.values()),
        (held) => JSON.stringify(held) === JSON.stringify(wanted),
      );
      expect(errors.some((one) => one.includes("differs"))).to.equal(true);
    });

  it("heal when the file was damaged", async () => {
    const first = start();
    await first.ready();
    await first.stop();
    await damage();
    const told: string[] = [];
    const second = start({
      // At its start, without waiting for the next comparison.
      compareMs: 3600_000,
      onChange: (changes) => void told.push(...changes.map(({ kind }) => kind)),
    });
    await second.ready();
    expect(sorted(second.stations.values())).to.deep.equal(sorted(await wholeOf(web)));
    expect(told.sort()).to.deep.equal(["added", "changed"]);
  });

  describe("in Python", () => {
    before(function () {
      const asks = ["-c", "import sys; sys.exit(sys.version_info < (3, 9))"];
      if (spawnSync("python3", asks).status === 0) return;
      console.log("      no python3 of 3.9 or later here: skipped");
      this.skip();
    });

    const startPython = () => {
      const child = spawn("python3", ["-c", program, web.baseUrl, country.secret, file], {
        env: { PATH: process.env.PATH, PYTHONPATH: "client/python", PYTHONDONTWRITEBYTECODE: "1" },
        stdio: ["pipe", "pipe", "inherit"],
      });
      children.push(child);
      const letGo = hold("a mirror in Python", async () => void child.kill("SIGKILL"));
      child.once("exit", letGo);
      const lines = createInterface({ input: child.stdout });
      const say = async (text = "show"): Promise<Station[]> => {
        const line = once(lines, "line");
        child.stdin.write(`${text}\n`);
        return sorted(JSON.parse(String((await line)[0])) as Station[]);
      };
      const holds = (role: RunningRole) =>
        until(
          () => Promise.all([say(), wholeOf(role)]),
          ([held, all]) => JSON.stringify(held) === JSON.stringify(sorted(all)),
          20_000,
        );
      return { say, holds };
    };

    it("heal when the database was restored behind their back", async () => {
      const copy = startPython();
      await copy.holds(web);
      await copy.say(restored.baseUrl);
      await copy.holds(restored);
      await copy.say(web.baseUrl);
      await copy.holds(web);
    });

    it("heal when the file was damaged", async () => {
      const first = startPython();
      await first.holds(web);
      await until(
        () => readFile(file, "utf8").catch(() => ""),
        (text) => text !== "",
      );
      for (const child of children.splice(0)) {
        child.kill("SIGKILL");
        await once(child, "exit");
      }
      await damage();
      await startPython().holds(web);
    });
  });
});
