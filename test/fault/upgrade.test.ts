import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { readProcfile } from "#demo/roles.ts";
import { loadConfig } from "#src/infrastructure/config.ts";
import { createDb, type Db, rows } from "#src/infrastructure/db.ts";
import type { FuelBlock } from "#src/domain/state.ts";
import { projectRoot } from "#src/infrastructure/project-root.ts";
import { isKept, type Load, type Sent, startLoad } from "#test/fault/load.ts";
import { expectAnswers, expectInEffectOnce } from "#test/fault/proof.ts";
import { stationCount } from "#test/fault/stage.ts";
import { type Client, createClient, until } from "#test/flow/client.ts";
import { insertPlaces, placeOf } from "#test/flow/country.ts";
import { untilServed } from "#test/flow/refold.ts";
import { createBareDatabase, type TestDatabase } from "#test/harness/database.ts";
import { buildEarlierVersion, type EarlierVersion } from "#test/harness/earlier-version.ts";
import { createTestInstance, type TestInstance, usualPatience } from "#test/harness/instance.ts";
import { spawnOperatorOf } from "#test/harness/operator.ts";
import { tail } from "#test/harness/lines.ts";
import { type RoleProcess, startRoleProcess } from "#test/harness/processes.ts";

const caps = { NEW_REPORTERS_DAILY: "1000000", MASS_NO_LIMIT: "1000000" };
/** Beside `web`, in the order of docs/operations.md. */
const workerRoles = ["marks", "snapshots", "webhooks", "upkeep", "clock"];

describe("fault: an upgrade and the way back, two versions side by side", function () {
  this.timeout(600_000);
  let earlier: EarlierVersion;
  let instance: TestInstance;
  let database: TestDatabase;
  let env: Record<string, string>;
  let db: Db | undefined;
  let keyId: number;
  let secret: string;
  let load: Load | undefined;
  /** Each process that was started. */
  const started: RoleProcess[] = [];

  before(async function () {
    const built = await buildEarlierVersion();
    if (built === null) {
      console.log("      no history of the repository: skipped");
      this.skip();
    }
    earlier = built;
    console.log(`      from ${earlier.name}`);
    instance = await createTestInstance({ ...usualPatience, ...caps });
    database = await createBareDatabase();
    // A role that gives way to the others stops late on a full machine.
    const patient = { STOP_MS: "50000" };
    env = { ...instance.env, ...patient, DATABASE_URL: database.databaseUrl };
  });
  after(async () => {
    await load?.stop();
    await Promise.all(started.map((role) => role.stop().catch(() => role.kill9())));
    await db?.destroy();
    await database?.drop();
    await instance?.drop();
    earlier?.drop();
  });

  it("loses no mark, doubles none, and a reader of changes misses nothing", async () => {
    await release(earlier.folder);
    const config = loadConfig(env);
    db = createDb(config, "test");
    await addHistory(db);
    const history = await contentOf(db);
    const places = Array.from({ length: stationCount + 1 }, (_, n) => placeOf(n));
    await insertPlaces(db, places);
    const partner = ["--name", "Test", "--rpm", "100000", "--daily", "100000000"];
    const { id } = await operate(earlier.folder, "partner", "create", ...partner);
    const issued = ["--partner", String(id), "--kind", "secret"];
    const { key, ...made } = await operate(earlier.folder, "key", "issue", ...issued);
    [keyId, secret] = [made.id, key];
    await db("keys").update({ mass_no_limit: 1_000_000 });
    const webs = await Promise.all(["web", "web"].map((role) => start(role, earlier.folder)));
    const workers = new Map<string, RoleProcess>();
    const rolesOf = (folder: string): string[] =>
      workerRoles.filter((role) => readProcfile(folder).has(role));
    for (const role of rolesOf(earlier.folder))
      workers.set(role, await start(role, earlier.folder));
    const clients = webs.map(clientOf);
    const { sent } = (load = startLoad(clients));
    const changes = followChanges(clients);
    await goOn(sent);

    /** Puts processes of the version in `folder` into the places of those that run, one by one. */
    const changeTo = async (folder: string): Promise<void> => {
      for (const [index, left] of webs.entries()) {
        webs[index] = await start("web", folder);
        clients[index] = clientOf(webs[index]);
        await goOn(sent);
        expect(await left.stop(60_000), tail(left.lines)).to.equal(0);
      }
      for (const role of new Set([...rolesOf(folder), ...workers.keys()])) {
        const left = workers.get(role);
        if (rolesOf(folder).includes(role)) workers.set(role, await start(role, folder));
        else workers.delete(role);
        // A station is folded anew by whichever takes it up, whoever asked for it.
        for (const side of [projectRoot, earlier.folder]) await withdrawSome(side);
        await goOn(sent);
        if (left !== undefined) expect(await left.stop(60_000), tail(left.lines)).to.equal(0);
      }
      await expectFound(db!, placeOf(stationCount).id);
    };
    await release(projectRoot);
    await goOn(sent);
    await changeTo(projectRoot);
    // As docs/operations.md says: the roles of the old version, without its `release`.
    await changeTo(earlier.folder);
    webs.push(await start("web", projectRoot));
    clients.push(clientOf(webs.at(-1)!));
    await goOn(sent);
    await load.stop();

    expect(await contentOf(db)).to.deep.equal(history);
    expectAnswers(sent, {});
    expect(sent.filter((one) => !isKept(one))).to.deep.equal([]);
    expect(sent.filter((one) => one.body.duplicate === true)).to.deep.equal([]);
    await untilServed(db, webs);
    await expectInEffectOnce({ country: { db }, config, clients }, sent);
    const ids = places.map((place) => place.id);
    const served = await Promise.all(
      ids.map(async (id) => (await clients[0]!.get(`/stations/${id}`)).body.station.fuel),
    );
    await until(
      async () => changes.of(ids),
      (copied) => JSON.stringify(copied) === JSON.stringify(served),
    );
    await changes.stop();
    const faults = started.flatMap(({ role, lines }) =>
      lines.filter((line) => /"level":[56]0/.test(line)).map((line) => `${role}: ${line}`),
    );
    expect(faults.join("\n"), "errors in the logs").to.equal("");
  });

  async function release(folder: string): Promise<void> {
    const role = await startRoleProcess("release", env, folder);
    expect(await role.exited, role.lines.join("\n")).to.equal(0);
  }

  async function start(role: string, folder: string): Promise<RoleProcess> {
    const process = await startRoleProcess(role, env, folder);
    started.push(process);
    return process;
  }

  /** What the command line of the version in `folder` answers. */
  // oxlint-disable-next-line typescript/no-explicit-any -- looked at field by field
  async function operate(folder: string, ...args: string[]): Promise<any> {
    const ran = await spawnOperatorOf(folder, env, ...args, "--json", "--actor", "olga");
    expect(ran.code, ran.err).to.equal(0);
    return ran.json;
  }

  const clientOf = ({ baseUrl }: RoleProcess): Client => createClient(baseUrl, secret);

  /** A rollback of what came in the last two seconds, by the command line of the version in `folder`. */
  async function withdrawSome(folder: string): Promise<void> {
    const since = new Date(Date.now() - 2000).toISOString();
    const chosen = ["--key", String(keyId), "--since", since, "--yes"];
    const { marks } = await operate(folder, "marks", "rollback", ...chosen);
    expect(marks, "marks withdrawn").to.be.greaterThan(0);
  }
});

const daysBefore = 75;

/** Marks of the days before, which count no more. */
async function addHistory(db: Db): Promise<void> {
  for (let from = daysBefore; from > 0; from -= 15)
    await rows(db, "select ensure_mark_partitions(current_date - ?::int, 15)", [from]);
  await rows(
    db,
    `insert into marks (id, station_id, reporter_id, source, status, received_at, effective_at, remote, needed, rule,
       processed_at, outcome, review)
     select ((current_date - ago - date '1970-01-01')::bigint << 32) + 1e9::bigint + n, 'n' || n, 0, 'partner', 'yes',
       now() - ago * interval '1 day', now() - ago * interval '1 day', false, 1, 'geolocated', now(), 'published', 'withdrawn'
     from generate_series(1, ${daysBefore}) ago, generate_series(1, 50) n`,
  );
}

const contentOf = (db: Db): Promise<unknown> =>
  rows(
    db,
    "select count(*), sum(hashtextextended(marks::text, 0)) as content from marks where reporter_id = 0",
  );

/** A mark that waits since weeks is found by the workers that run now. */
async function expectFound(db: Db, stationId: string): Promise<void> {
  const [mark] = await rows<{ id: number }>(
    db,
    `insert into marks (id, station_id, reporter_id, source, status, received_at, effective_at, remote, needed, rule)
     select ((current_date - 40 - date '1970-01-01')::bigint << 32) + nextval('mark_seq'), ?, min(id), 'partner', 'yes',
       now() - interval '40 days', now() - interval '40 days', false, 1, 'geolocated' from reporters returning id`,
    [stationId],
  );
  await until(
    () =>
      rows<{ done: boolean }>(
        db,
        "select processed_at is not null as done from marks where id = ?",
        [mark!.id],
      ),
    ([found]) => found!.done,
  );
}

/** Until 50 marks more are answered. */
async function goOn(sent: readonly Sent[]): Promise<void> {
  const from = sent.length;
  await until(
    () => Promise.resolve(sent.length - from),
    (more) => more > 50,
  );
}

/** A partner's copy: the country once, then deltas, each asked of another process than the one before. */
function followChanges(clients: readonly Client[]) {
  const copy = new Map<string, FuelBlock>();
  let stopped = false;
  let fault: Error | undefined;
  const follow = async (): Promise<void> => {
    for (let path = "/stations/all", turn = 0; !stopped; turn += 1) {
      const { status, body } = await clients[turn % clients.length]!.get(path);
      expect(status, path).to.equal(200);
      for (const { id, fuel } of body.stations) copy.set(id, fuel);
      path = `/stations/delta?updated_since=${encodeURIComponent(body.as_of)}`;
      await sleep(50);
    }
  };
  const following = follow().catch((error: Error) => void (fault = error));
  return {
    /** What the copy has of these stations. Throws when it could not be kept. */
    of: (ids: readonly string[]): (FuelBlock | undefined)[] => {
      if (fault !== undefined) throw fault as Error;
      return ids.map((id) => copy.get(id));
    },
    stop: async (): Promise<void> => {
      stopped = true;
      await following;
    },
  };
}
