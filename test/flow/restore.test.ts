import { execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import pg from "pg";
import { loadConfig } from "#src/infrastructure/config.ts";
import { createDb, rows, type Db } from "#src/infrastructure/db.ts";
import { type Client, createClient, until } from "#test/flow/client.ts";
import { type Country, openCountry, placeOf } from "#test/flow/country.ts";
import { shellBlocks } from "#test/harness/documents.ts";
import { createTestInstance, type TestInstance } from "#test/harness/instance.ts";
import { hold } from "#test/harness/leaks.ts";
import { type RunningRole, startRole } from "#test/harness/roles.ts";
import { provided } from "#test/harness/provided.ts";

const heading = "Back up and restore";
const root = join(import.meta.dirname, "../..");

/** The major version of pg_dump on PATH; null without one. */
function dumpMajor(): number | null {
  try {
    const said = execFileSync("pg_dump", ["--version"], { encoding: "utf8" });
    return Number(/\) (\d+)/.exec(said)?.[1]);
  } catch {
    return null;
  }
}

describe("flow: a backup, restored", function () {
  let instance: TestInstance;
  let country: Country;
  let roles: RunningRole[] = [];
  let restored: { url: string; db: Db; drop(): Promise<void> };
  let old: Client;
  let fresh: Client;
  /** The backup's lines in docs/operations.md, and those of the restore. */
  const [dump = "", restore = ""] = shellBlocks(readFileSync("docs/operations.md", "utf8"))
    .filter(({ under }) => under.includes(heading))
    .map(({ text }) => text);

  const run = (script: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const file = join(provided("TEST_DATA"), "fuelmark.dump");
      const child = spawn(
        "bash",
        ["-euo", "pipefail", "-c", script.replaceAll("fuelmark.dump", file)],
        {
          cwd: root,
          env: { ...process.env, ...instance.env, NEW_DATABASE_URL: restored.url },
        },
      );
      let said = "";
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (piece: Buffer) => (said += piece.toString()));
      child.on("close", (code) => {
        if (code === 0) resolve(said);
        else reject(new Error(`code ${code}\n${said}`));
      });
    });
  const startAll = async (env: Record<string, string>): Promise<RunningRole> => {
    const [web, marks] = await Promise.all([startRole("web", env), startRole("marks", env)]);
    roles = [web, marks];
    return web;
  };

  before(async function () {
    const admin = new pg.Client({ connectionString: provided("TEST_DATABASE_URL") });
    await admin.connect();
    const { rows: shown } = await admin.query<{ server_version_num: string }>(
      "show server_version_num",
    );
    const serverMajor = Math.floor(Number(shown[0]?.server_version_num) / 10_000);
    const major = dumpMajor();
    if (major === null || major < serverMajor) {
      await admin.end();
      console.log(
        `      no pg_dump for PostgreSQL ${serverMajor} on PATH: install its client to try a restore`,
      );
      this.skip();
    }
    const name = `fuelmark_restored_${randomBytes(6).toString("hex")}`;
    await admin.query(`create database ${name}`);
    const url = new URL(provided("TEST_DATABASE_URL"));
    url.pathname = `/${name}`;
    instance = await createTestInstance();
    const db = createDb(loadConfig({ DATABASE_URL: url.href }), "test", 2);
    const letGo = hold(`database ${name}`, async () => {
      await admin.query(`drop database if exists ${name} with (force)`);
      await admin.end();
    });
    restored = {
      url: url.href,
      db,
      drop: async () => {
        await db.destroy();
        letGo();
        await admin.query(`drop database ${name} with (force)`);
        await admin.end();
      },
    };
    country = await openCountry(instance.config, 4);
  });
  after(async () => {
    await Promise.all(roles.map((role) => role.stop()));
    await country?.close();
    await restored?.drop();
    await instance?.drop();
  });

  const statusAt = async (client: Client, n: number): Promise<string> =>
    (await client.get(`/stations/${placeOf(n).id}`)).body.station.fuel.status as string;
  const cursor = async (client: Client): Promise<string> =>
    (await client.get("/stations/all")).body.as_of as string;
  let copiedAt: string;

  it("is made of a running service by the lines of the manual", async () => {
    const web = await startAll(instance.env);
    old = createClient(web.baseUrl, country.secret);
    for (const [n, status] of ["yes", "low", "queue"].entries()) {
      const answer = await old.mark(placeOf(n), `user-${n}`, { status, external_id: `e-${n}` });
      expect(answer.body.published.outcome).to.equal("published");
    }
    expect(await run(dump)).to.equal("");
    // What comes now is lost with the old database, but a partner has seen it.
    const lost = await old.mark(placeOf(3), "user-3", { status: "low", external_id: "lost" });
    expect(lost.body.published.outcome).to.equal("published");
    await old.mark(placeOf(0), "user-4", { status: "queue" });
    expect(await statusAt(old, 0)).to.equal("queue");
    copiedAt = await until(
      () => cursor(old),
      (at) => at > lost.body.fuel.updated,
    );
    await Promise.all(roles.map((role) => role.stop()));
  });

  it("is restored into an empty database by the lines of the manual", async () => {
    expect(await run(restore)).to.match(/stations +4/);
    const web = await startAll({ ...instance.env, DATABASE_URL: restored.url });
    fresh = createClient(web.baseUrl, country.secret);
  });

  it("brings back keys, statuses, identities and limits as they were", async () => {
    expect(await Promise.all([0, 1, 2, 3].map((n) => statusAt(fresh, n)))).to.deep.equal([
      ...["yes", "low", "queue", "nodata"],
    ]);
    const repeated = await fresh.mark(placeOf(1), "user-1", { status: "low", external_id: "e-1" });
    expect(repeated.body).to.include({ duplicate: true });
    const soon = await fresh.mark(placeOf(1), "user-1", { status: "no" });
    expect(soon.body.type).to.match(/\/station-cooldown$/);
  });

  it("tells partners that had seen more what counts now, with their next delta", async () => {
    const { body } = await until(
      () => fresh.get(`/stations/delta?updated_since=${encodeURIComponent(copiedAt)}`),
      (answer) => answer.body.count === 4,
    );
    const status = new Map(
      (body.stations as { id: string; fuel: { status: string } }[]).map((one) => [
        one.id,
        one.fuel.status,
      ]),
    );
    expect(status.get(placeOf(0).id)).to.equal("yes");
    expect(status.get(placeOf(3).id)).to.equal("nodata");
  });

  it("does not give numbers of the lost time a second time, and takes marks again", async () => {
    const highest = async (db: Db): Promise<[number, number]> => {
      const [row] = await rows<{ seq: number; mark: number }>(
        db,
        "select (select max(seq) from changes) as seq, (select max(id) from marks) as mark",
      );
      return [row!.seq, row!.mark];
    };
    const [lostSeq, lostMark] = await highest(country.db);
    const sent = await fresh.mark(placeOf(3), "user-3", { status: "low", external_id: "lost" });
    expect(sent.body).to.include({ accepted: true, duplicate: false });
    expect(sent.body.published.outcome).to.equal("published");
    const [seq, mark] = await highest(restored.db);
    expect(seq).to.be.above(lostSeq);
    expect(mark).to.be.above(lostMark);
    const page = createClient(roles[0]!.baseUrl, country.publishable);
    const { lat, lon } = placeOf(3);
    const box = `/stations?bbox=${lat - 0.001},${lon - 0.001},${lat + 0.001},${lon + 0.001}`;
    const shown = (await page.get(box)).body.stations as { id: string; fuel: { status: string } }[];
    expect(shown.find(({ id }) => id === placeOf(3).id)?.fuel.status).to.equal("low");
  });

  it("writes down that it was restored", async () => {
    const found = await rows(restored.db, "select action from operator_log");
    expect(found).to.deep.include({ action: "database.restored" });
  });
});
