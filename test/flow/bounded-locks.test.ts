import { expect } from "chai";
import pg from "pg";
import { rows } from "#src/infrastructure/db.ts";
import type { FuelBlock } from "#src/domain/state.ts";
import { formatTime } from "#src/domain/time.ts";
import { dayMs, hourMs } from "#src/domain/units.ts";
import { firstIdOfDay } from "#src/marks/marks.ts";
import { until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { signIn } from "#test/flow/console-client.ts";
import { addOperator } from "#test/flow/operators.ts";
import { useStage } from "#test/flow/stage.ts";
import { sized } from "#test/harness/long.ts";
import { startRole } from "#test/harness/roles.ts";
import { countLocks, recordStatements } from "#test/harness/statements.ts";
import { use } from "#test/harness/use.ts";

/** A month has a table and nine indexes; Postgres with its defaults has 6,400 locks for all its transactions. */
const locksAtMost = 250;
const days = sized(100, 420);

/** To fold a station anew the days since its changed or late mark are read (decisions 16.25). */
const isRefold = (text: string): boolean =>
  text.includes("as asked (station_id) cross join lateral");

const isFold = (text: string): boolean => text.includes("as arrivals");

describe("flow: locks with many partitions", function () {
  this.timeout(180_000);
  const statements = use(
    async () => recordStatements(),
    ({ stop }) => stop(),
  );
  const { instance, country, webs, workers, clients, operator } = useStage(3, ["web"], {
    RETENTION_DAYS: "450",
    SWEEP_MS: "100",
  });
  let client: pg.Client;

  before(async () => {
    client = new pg.Client({ connectionString: instance.databaseUrl });
    await client.connect();
    for (let from = 0; from < days; from += 20)
      await client.query("select ensure_mark_partitions(current_date - $1::int, 20)", [
        days - from,
      ]);
  });
  after(() => client?.end());

  /** A mark that was received `daysAgo`, as nobody has come to it yet. */
  const addOld = async (daysAgo: number, place: number, further: string): Promise<number> => {
    const id = firstIdOfDay(Date.now() - daysAgo * dayMs) + place + 1;
    await rows(
      country.db,
      `insert into marks (id, station_id, reporter_id, source, status, received_at, effective_at, remote, needed, rule)
       values (?, ?, (select min(id) from reporters), 'partner', 'no', now() - ?::int * interval '1 day', now() - ?::int * interval '1 day', false, 1,
         'geolocated')`,
      [id, placeOf(place).id, daysAgo, daysAgo],
    );
    await rows(country.db, `update marks set ${further} where id = ?`, [id]);
    // As intake leaves it.
    await rows(country.db, "insert into station_status (station_id) values (?)", [
      placeOf(place).id,
    ]);
    return id;
  };

  it("finds marks that have waited, failed or been held for months, and locks few partitions for it", async () => {
    await country.meet("somebody", 60);
    const waiting = await addOld(40, 0, "needed = 1");
    const failed = await addOld(60, 1, "failed_at = now(), failure = 'no'");
    const held = await addOld(90, 2, "review = 'held', processed_at = now(), outcome = 'held'");
    for (const name of ["marks", "snapshots", "upkeep", "clock"])
      workers.push(await startRole(name, { ...instance.env, LOG_LEVEL: "debug" }));
    const isDone = "select processed_at is not null as done from marks where id = ?";
    await until(
      () => rows<{ done: boolean }>(country.db, isDone, [waiting]),
      ([mark]) => mark!.done,
    );
    expect((await operator("marks", "failed")).json).to.have.length(1);
    expect((await operator("review", "list")).json).to.have.length(1);
    const queues = await operator("queues");
    expect(queues.json[0]).to.include({ unprocessed_marks: 0, failed_marks: 1 });
    expect((await operator("marks", "retry", String(failed))).code).to.equal(0);
    expect((await operator("review", "approve", String(held))).code).to.equal(0);
    for (const id of [failed, held])
      await until(
        () => rows<{ done: boolean }>(country.db, isDone, [id]),
        ([mark]) => mark!.done,
      );
  });

  it("folds a station anew over the days of the mark that changes or comes late, and of the status before it", async () => {
    const { id } = placeOf(1);
    const status = async () =>
      (await clients[0]!.get(`/stations/${id}`)).body.station.fuel as FuelBlock;
    // Of the marks before, whose outcomes this process may still have to hear of.
    const { updated: served } = await until(status, ({ updated }) => updated !== "");
    const rollback = ["marks", "rollback", "--since", formatTime(Date.now() - dayMs)];
    const from = statements.count();
    await country.meet("liar", 8 * 24 * 60);
    const lie = await clients[0]!.mark(placeOf(1), "liar", { status: "yes" });
    expect(lie.status).to.equal(200);
    const before = await status();
    expect(before.updated).to.not.equal(served);
    const done = await operator(...rollback, "--station", id);
    expect(done.json).to.include({ stations: 1 });
    expect((await until(status, ({ updated }) => updated !== before.updated)).updated).to.equal(
      served,
    );
    expect((await operator("marks", "rollback", "undo", String(done.json.id))).code).to.equal(0);
    expect(await until(status, ({ updated }) => updated !== served)).to.deep.equal(before);
    const late = await clients[0]!.mark(placeOf(1), "late", {
      ...{ status: "no", observed_at: formatTime(Date.now() - 2 * hourMs) },
    });
    expect(late.status).to.equal(200);

    // The worker's, not the previews'.
    const refolds = statements
      .transactions(from)
      .filter(({ statements: sent }) =>
        [isRefold, isFold].every((is) => sent.some(({ text }) => is(text))),
      );
    expect(refolds.length).to.be.greaterThan(1);
    for (const one of refolds) expect(await countLocks(client, one)).to.be.at.most(locksAtMost);
  });

  it("locks few partitions with whatever a role does by itself, with a mark, and with the pages of the console", async () => {
    const [web] = webs;
    const upkeep = workers.find(({ role }) => role === "upkeep")!;
    for (const duty of ["retention", "partitions", "usage", "instants"])
      await upkeep.waitForLine(new RegExp(`"duty":"${duty}".*duty done`));
    const answer = await clients[0]!.mark(placeOf(1), "user", { status: "yes" });
    expect(answer.status).to.equal(200);
    expect((await clients[0]!.delete("/users/user")).body.erased).to.equal(true);
    expect((await fetch(`${web!.baseUrl}/metrics`)).status).to.equal(200);
    await addOperator(country.db, "vera", "viewer");
    const vera = await signIn(web!.baseUrl, "vera");
    for (const path of ["/health", "/review", "/failed-marks", "/partners", "/alarms"])
      expect((await vera.call("GET", path)).status, path).to.equal(200);
    const all = statements.transactions();
    const texts = all.flatMap((one) => one.statements.map(({ text }) => text));
    // Sweep, backlog, fold, held marks, what reads marks is among them.
    for (const part of [
      "select distinct station_id from marks",
      '"oldestS"',
      "as arrivals",
      "held_reason, 'mass-no'",
    ])
      expect(
        texts.some((text) => text.includes(part)),
        part,
      ).to.equal(true);
    const tooMany: string[] = [];
    for (const one of all) {
      if (one.statements.some(({ text }) => isRefold(text))) continue;
      const locks = await countLocks(client, one);
      if (locks > locksAtMost)
        tooMany.push(`${locks}: ${one.statements.map(({ text }) => text).join(";\n")}`);
    }
    expect(tooMany).to.deep.equal([]);
  });
});
