import { expect } from "chai";
import { startHook } from "#test/flow/alarm-receivers.ts";
import { until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { openStage, type Stage } from "#test/fault/stage.ts";
import { type RoleProcess, startRoleProcess } from "#test/harness/processes.ts";

const ways = [
  {
    what: "is made read-only, as a full one of a hosted service is",
    reason: "the database is read-only",
    begin: ["alter system set default_transaction_read_only = on", "select pg_reload_conf()"],
    end: ["alter system reset default_transaction_read_only", "select pg_reload_conf()"],
  },
  {
    // A disk of the machine's own is not to be filled: Postgres refuses with the SQLSTATE of a full one.
    what: "has a full disk",
    reason: "the disk of the database is full",
    begin: [
      `create function full_disk() returns trigger language plpgsql as $$
         begin raise 'could not extend file' using errcode = 'disk_full'; end $$`,
      "create trigger full_disk before insert on marks for each row execute function full_disk()",
    ],
    end: ["drop trigger full_disk on marks"],
  },
] as const;

describe("fault: Postgres that takes no writes", function () {
  this.timeout(180_000);
  let stage: Stage;
  let hook: Awaited<ReturnType<typeof startHook>>;
  const others: RoleProcess[] = [];
  beforeEach(async () => {
    hook = await startHook();
    const settings = { ALARM_WEBHOOK_URL: hook.url, ALARM_POLL_MS: "500" };
    stage = await openStage({ own: "postgres", workers: 1, settings });
    for (const role of ["upkeep", "upkeep", "snapshots", "clock"])
      others.push(await startRoleProcess(role, stage.env));
  });
  afterEach(async () => {
    await Promise.all(others.splice(0).map((role) => role.stop()));
    await stage?.close();
    await hook?.close();
  });

  const get = async (web: RoleProcess, path: string): Promise<string> =>
    (await fetch(`${web.baseUrl}${path}`)).text();
  interface Status {
    feeds: { feed: string; state: string }[];
  }
  const marksOf = async (web: RoleProcess): Promise<string | undefined> =>
    (JSON.parse(await get(web, "/status.json")) as Status).feeds.find(
      ({ feed }) => feed === "marks",
    )?.state;
  const allMarks = (wanted: string) =>
    until(
      () => Promise.all(stage.webs.map(marksOf)),
      (found) => found.every((state) => state === wanted),
    );
  const run = async (statements: readonly string[]): Promise<void> => {
    for (const sql of statements) await stage.country.db.raw(sql);
  };

  for (const { what, reason, begin, end } of ways)
    it(`says so at once and tells the operator once when it ${what}, and says when that is over`, async () => {
      await allMarks("ok");
      await run(begin);
      const refused = await stage.clients[0]!.mark(placeOf(1), "driver", { status: "low" });
      expect(refused.status).to.equal(503);
      expect(Number(refused.headers.get("retry-after"))).to.be.greaterThan(0);
      expect(await marksOf(stage.webs[0]!), "of the process that was refused").to.equal("degraded");
      await allMarks("degraded");
      for (const web of stage.webs) {
        const ready = JSON.parse(await get(web, "/readyz")) as {
          ready: boolean;
          checks: { database: object };
        };
        expect(ready.ready).to.equal(true);
        expect(ready.checks.database).to.deep.equal({
          ok: false,
          detail: `takes no writes: ${reason}`,
        });
        expect(await get(web, "/metrics")).to.match(/^fuelmark_writes_refused 1$/m);
      }
      expect((await stage.clients[1]!.get(`/stations/${placeOf(1).id}`)).status).to.equal(200);
      // The refusals go on, as they do in earnest.
      const told = await until(
        async () => {
          await stage.clients[0]!.mark(placeOf(1), "driver", { status: "low" });
          return hook.posts;
        },
        (posts) => posts.length > 0,
        60_000,
      );
      const [alarm] = told[0]!.body.data.alarms as { kind: string; subject: string }[];
      expect(alarm).to.include({ kind: "writes-refused", subject: reason });
      await run(end);
      await until(
        () => stage.clients[0]!.mark(placeOf(1), "driver", { status: "low" }),
        ({ status }) => status === 200,
      );
      await allMarks("ok");
      expect(hook.posts.length, "messages of two upkeep processes").to.equal(1);
      const said = stage.webs[0]!.lines.filter((line) => /takes (no )?writes/.test(line));
      expect(said.map((line) => (JSON.parse(line) as { level: number }).level)).to.deep.equal([
        50, 30,
      ]);
    });
});
