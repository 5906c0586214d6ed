import { expect } from "chai";
import { isRefusal } from "#src/contract/refusals.ts";
import { rows } from "#src/infrastructure/db.ts";
import type { ConsoleBatch } from "#src/contract/console-review.ts";
import { decideBatch } from "#src/marks/bulk-decisions.ts";
import { msOf } from "#src/marks/marks.ts";
import { undoDecision } from "#src/marks/undo-decision.ts";
import type { TestInstance } from "#test/harness/instance.ts";
import { startRole } from "#test/harness/roles.ts";
import { type Client, createClient, until } from "#test/flow/client.ts";
import { signIn } from "#test/flow/console-client.ts";
import { type Country, placeOf } from "#test/flow/country.ts";
import { addOperator } from "#test/flow/operators.ts";
import { countUnprocessed, expectRefolded, untilServed } from "#test/flow/refold.ts";
import { openStage, type Stage } from "#test/flow/stage.ts";
import { differences, storedOf } from "#test/flow/stored.ts";

const stations = 12;
const quiet = () => undefined;

describe("flow: decisions about many marks are taken back", function () {
  let stage: Stage;
  let instance: TestInstance;
  let country: Country;
  let partner: Client;

  beforeEach(async () => {
    stage = await openStage(stations, ["web", "marks"]);
    ({ instance, country } = stage);
    [partner] = stage.clients as [Client];
    for (const [n, user] of ["ann", "bob", "eve"].entries())
      await country.meet(user, 8 * 24 * 60 + n * 15);
  });
  afterEach(() => stage.close());

  const operator = (...args: string[]) => stage.operator(...args);
  const untilFolded = () => untilServed(country.db, stage.webs);
  const reporterOf = async (status: string): Promise<number> => {
    const sql = "select reporter_id as id from marks where status = ? limit 1";
    return (await rows<{ id: number }>(country.db, sql, [status]))[0]!.id;
  };
  const fuels = async () => {
    const { body } = await partner.get("/stations/all?limit=1000");
    const listed = body.stations as { id: string; fuel: object }[];
    return Object.fromEntries(listed.map(({ id, fuel }) => [id, fuel]));
  };
  const stored = () => storedOf(country.db);
  /** As a process of the version before asks for it, and a decision that was broken off. */
  const refoldWhole = (places: readonly number[]): Promise<unknown> =>
    rows(country.db, "update station_status set refold = true where station_id = any(?::text[])", [
      places.map((n) => placeOf(n).id),
    ]);
  const served = async (as: object): Promise<void> => {
    const now = await until(fuels, (one) => JSON.stringify(one) === JSON.stringify(as));
    expect(now).to.deep.equal(as);
  };

  /** eve over others, with others, alone, and a station of others. */
  const campaign = async (): Promise<void> => {
    await partner.mark(placeOf(0), "ann", { status: "yes", fuels: ["95"], prices: { "95": 60 } });
    await partner.mark(placeOf(0), "eve", { status: "queue", queue: "20+" });
    await partner.mark(placeOf(1), "bob", { status: "low", limit_l: 20 });
    await partner.mark(placeOf(1), "eve", { status: "queue" });
    await partner.mark(placeOf(2), "eve", { status: "queue", fuels: ["92"] });
    await partner.mark(placeOf(2), "ann", { status: "queue" });
    await partner.mark(placeOf(3), "bob", { status: "yes" });
  };

  it("gives the state before exactly, on the command line: statuses, runs, verdicts, delta", async () => {
    await campaign();
    const [before, shown] = [await stored(), await fuels()];
    const selection = ["--reporter", String(await reporterOf("queue"))];
    const done = await operator("marks", "rollback", ...selection);
    expect(done.json).to.include({ marks: 3, stations: 3, established: 3, worked_out: 3 });
    expect(done.json.changes[0].station).to.contain("Brand");
    await untilFolded();
    const since = (await partner.get(`/stations/${placeOf(3).id}`)).body.as_of as string;

    const id = String(done.json.id);
    const [line] = (await operator("marks", "rollback", "list")).json as Record<string, unknown>[];
    expect(line).to.include({ id: done.json.id, actor: "olga", marks: 3, undone: null });
    expect(line!["selection"]).to.deep.equal({ reporter: Number(selection[1]) });
    const { changes } = (await operator("marks", "rollback", "show", id)).json as ConsoleBatch;
    expect(
      changes.map(({ station_id: at, before: b, after: a }) => [at, b.status, a.status]),
    ).to.have.deep.members([
      [placeOf(0).id, "queue", "yes"],
      [placeOf(1).id, "queue", "low"],
      [placeOf(2).id, "queue", "queue"],
    ]);

    const undone = await operator("marks", "rollback", "undo", id);
    expect(undone.json).to.deep.equal({ id: done.json.id, restored_marks: 3, stations: 3 });
    await untilFolded();
    expect(differences(before, await stored())).to.deep.equal([]);
    await served(shown);
    await expectRefolded(country.db, instance.config);
    const delta = await partner.get(`/stations/delta?updated_since=${encodeURIComponent(since)}`);
    for (const { station_id: at } of changes) {
      const listed = delta.body.stations as { id: string; fuel: object }[];
      expect(listed.find((one) => one.id === at)?.fuel, at).to.deep.equal(shown[at]);
    }
    const [entry] = (await operator("log", "list", "--action", "marks.rollback-undo")).json;
    expect(entry).to.deep.include({
      subject: `rollback ${id}`,
      details: { marks: 3, stations: 3 },
    });

    const again = await operator("marks", "rollback", "undo", id);
    expect([again.code, again.json.error]).to.deep.equal([
      1,
      `rollback ${id} is taken back already`,
    ]);
    for (const verb of ["show", "undo"])
      expect((await operator("marks", "rollback", verb, "999")).code).to.equal(1);
    expect((await operator("marks", "rollback", "everything")).code).to.equal(2);
  });

  it("keeps the effect of marks that came in between", async () => {
    await campaign();
    const eve = await reporterOf("queue");
    const done = await operator("marks", "rollback", "--reporter", String(eve));
    await untilFolded();
    await partner.mark(placeOf(2), "bob", { status: "low" });
    await operator("marks", "rollback", "undo", String(done.json.id));
    await untilFolded();
    await expectRefolded(country.db, instance.config);
    expect((await partner.get(`/stations/${placeOf(2).id}`)).body.station.fuel.status).to.equal(
      "low",
    );
  });

  it("opens a mark again that no worker had come to, a failed one and a held one, of old days too", async () => {
    const { db } = country;
    await Promise.all(stage.workers.map((role) => role.stop()));
    await partner.mark(placeOf(4), "eve", { status: "queue" }, { Prefer: "respond-async" });
    await partner.mark(placeOf(5), "eve", { status: "queue" }, { Prefer: "respond-async" });
    await partner.mark(placeOf(6), "eve", { status: "queue" }, { Prefer: "respond-async" });
    await rows(db, "update marks set failed_at = now(), failure = 'broken' where station_id = ?", [
      placeOf(5).id,
    ]);
    await rows(
      db,
      `update marks set review = 'held', held_reason = 'source', processed_at = now(), outcome = 'held' where station_id = ?`,
      [placeOf(6).id],
    );
    // Older than what a worker looks at all the time.
    const old = Math.floor(Date.now() / 86_400_000) - 10;
    await rows(db, "select ensure_mark_partitions(date '1970-01-01' + ?::int, 1)", [old]);
    await rows(db, "update marks set id = (?::bigint << 32) + (id & 4294967295)", [old]);
    const before = await stored();
    const selection = { reporter: await reporterOf("queue") };
    const done = await decideBatch(db, "test", "rollback", selection, quiet);
    if (isRefusal(done)) throw new Error("not done");
    expect(await countUnprocessed(db)).to.equal(0);

    expect(await undoDecision(db, "test", ["rollback"], done.id!, quiet)).to.include({ marks: 3 });
    expect((await stored()).marks).to.deep.equal(before.marks);
    await refoldWhole([4]);
    stage.workers.push(await startRole("marks", instance.env));
    await until(
      async () => (await partner.get(`/stations/${placeOf(4).id}`)).body.station.fuel.status,
      (status) => status === "queue",
    );
    expect((await operator("review", "list")).json).to.have.length(1);
    expect((await operator("marks", "failed")).json).to.have.length(1);
  });

  it("goes on where it was broken off, and does everything once when two do it at the same time", async () => {
    const { db } = country;
    await campaign();
    const [before, shown] = [await stored(), await fuels()];
    const selection = { reporter: await reporterOf("queue") };
    const half = { ...selection, station: placeOf(0).id };
    // Broken off after one of three stations: its record is that of the whole, not finished.
    const first = await decideBatch(db, "test", "rollback", half, quiet);
    if (isRefusal(first)) throw new Error("not done");
    await rows(
      db,
      "update mark_batches set selection = ?::jsonb, stations = 3, finished_at = null",
      [JSON.stringify(selection)],
    );
    const both = await Promise.all(
      ["a", "b"].map((actor) => decideBatch(db, actor, "rollback", selection, quiet)),
    );
    expect(both.reduce((sum, one) => sum + (isRefusal(one) ? 0 : one.marks), 0)).to.equal(2);
    const records = await rows<{ id: number; marks: number; finished: boolean }>(
      db,
      "select id, marks, finished_at is not null as finished from mark_batches",
    );
    expect(records).to.deep.equal([{ id: first.id, marks: 3, finished: true }]);
    await untilFolded();

    // Broken off after two of three marks.
    const id = first.id!;
    const last = "from mark_batch_marks where station_id = ?";
    await rows(db, `create table later as select * ${last}`, [placeOf(2).id]);
    await rows(db, `delete ${last}`, [placeOf(2).id]);
    await undoDecision(db, "test", ["rollback"], id, quiet);
    await rows(db, "insert into mark_batch_marks select * from later");
    await rows(db, "update mark_batches set undone_at = null");
    const backs = await Promise.all(
      ["a", "b"].map((actor) => undoDecision(db, actor, ["rollback"], id, quiet)),
    );
    expect(backs.reduce((sum, back) => sum + (isRefusal(back) ? 0 : back.marks), 0)).to.equal(1);
    expect(await undoDecision(db, "test", ["rollback"], id, quiet)).to.include({
      code: "already-done",
    });
    await refoldWhole([0, 1, 2]);
    await untilFolded();
    expect(differences(before, await stored())).to.deep.equal([]);
    await served(shown);
  });

  it("has ended when its process dies after the last mark", async () => {
    const { db } = country;
    await campaign();
    const selection = { reporter: await reporterOf("queue") };
    const dies = (): never => {
      throw new Error("killed");
    };
    const done = decideBatch(db, "test", "rollback", selection, dies);
    expect(await done.catch((error: Error) => error.message)).to.equal("killed");
    const sql = "select finished_at is not null as finished, marks from mark_batches";
    expect(await rows(db, sql)).to.deep.equal([{ finished: true, marks: 3 }]);
  });

  it("does not go on with a rollback that somebody takes back", async () => {
    const { db } = country;
    await campaign();
    const selection = { reporter: await reporterOf("queue") };
    const done = await decideBatch(db, "test", "rollback", selection, quiet);
    if (isRefusal(done)) throw new Error("not done");
    await rows(db, "update mark_batches set finished_at = null");
    await undoDecision(db, "test", ["rollback"], done.id!, quiet);
    const next = await decideBatch(db, "test", "rollback", selection, quiet);
    if (isRefusal(next)) throw new Error("not done");
    expect(next).to.include({ marks: 3 });
    expect(next.id).to.not.equal(done.id);
  });

  it("decides held marks by source, city and hour, and takes that back", async () => {
    const { db } = country;
    await country.db("keys").where({ id: country.keyId }).update({ mass_no_limit: 1 });
    for (const n of [10, 9, 0, 1, 2])
      await partner.mark(placeOf(n), `late newcomer ${n}`, { status: "no" });
    const map = createClient(stage.webs[0]!.baseUrl, country.publishable);
    const report = (n: number, body: object) =>
      map.post(`/widget/stations/${placeOf(n).id}/report`, body);
    await report(0, { device: "agrees", status: "no" });
    await report(1, { device: "does not", status: "yes" });
    await untilFolded();
    const [before, shown] = [await stored(), await fuels()];

    const groups = (await operator("review", "groups")).json as Record<string, unknown>[];
    const sum = (field: string) => groups.reduce((all, one) => all + Number(one[field]), 0);
    // Two, where the hour has turned meanwhile.
    expect(groups.length).to.be.oneOf([1, 2]);
    for (const group of groups)
      expect(group).to.include({ key_id: country.keyId, network: null, city: "Тестоград", yes: 0 });
    expect([sum("marks"), sum("no"), sum("agree"), sum("disagree")]).to.deep.equal([4, 4, 1, 1]);

    const typed = ["--key", String(country.keyId), "--city", "тестоград"];
    const dry = await operator("review", "approve", ...typed, "--dry-run");
    expect(dry.json).to.include({ marks: 4, held: 4, established: 0, stations: 4 });
    const elsewhere = await operator(
      "review",
      "approve",
      "--key",
      String(country.keyId),
      "--status",
      "yes",
    );
    expect(elsewhere.json).to.include({ marks: 0, id: null });
    const approved = await operator("review", "approve", ...typed);
    expect(approved.json).to.include({ marks: 4, stations: 4 });
    await untilFolded();
    for (const { station_id: id, after } of dry.json.changes)
      expect((await fuels())[id], id).to.deep.equal(after);
    expect((await operator("review", "list")).json).to.deep.equal([]);
    const id = String(approved.json.id);
    expect((await operator("marks", "rollback", "undo", id)).code).to.equal(1);
    expect((await operator("review", "decisions", "undo", id)).json).to.include({
      restored_marks: 4,
    });
    await untilFolded();
    const marksOf = ({ marks }: { marks: string[] }) => marks;
    expect(marksOf(await stored())).to.deep.equal(marksOf(before));
    await served(shown);

    await addOperator(db, "vera");
    const vera = await signIn(stage.webs[0]!.baseUrl, "vera");
    const [first] = (await vera.call("GET", "/review/groups")).body.groups;
    // What comes later is in another group: nobody has seen it.
    const sql = `select max(${msOf("received_at")}) + 1 as until from marks where review = 'held'`;
    const [{ until: last }] = (await rows(db, sql)) as [{ until: number }];
    expect(first.selection).to.deep.equal({
      ...{ key: country.keyId, city: "Тестоград" },
      ...{ since: first.hour, until: last },
    });
    const rejected = await vera.call("POST", "/review/groups/reject", first.selection);
    expect(rejected.body.marks).to.equal(first.marks);
    const path = `/review/decisions/${rejected.body.id}`;
    expect((await vera.call("GET", path)).body).to.include({ act: "reject", undone: null });
    expect((await vera.call("POST", `${path}/undo`)).body.marks).to.equal(first.marks);
    expect(marksOf(await stored())).to.deep.equal(marksOf(before));
    expect((await vera.call("POST", "/review/preview", first.selection)).body.marks).to.equal(
      first.marks,
    );
  });
});
