import { expect } from "chai";
import { isRefusal } from "#src/contract/refusals.ts";
import { rows } from "#src/infrastructure/db.ts";
import { formatTime } from "#src/domain/time.ts";
import { undoReview } from "#src/marks/review-mark.ts";
import { undoDecision } from "#src/marks/undo-decision.ts";
import { by } from "#test/harness/by.ts";
import { addKey } from "#test/api/edge.ts";
import { type Answer, type Client, createClient, until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { expectRefolded } from "#test/flow/refold.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { settleTransitions } from "#workers/upkeep/transitions.ts";
import { useStage } from "#test/flow/stage.ts";
import { storedOf } from "#test/flow/stored.ts";

const minuteMs = 60_000;
const ago = (minutes: number): string => formatTime(Date.now() - minutes * minuteMs);

describe("flow: the review of harmful marks", function () {
  const { instance, country, webs, clients, operator } = useStage(60, [
    "web",
    "web",
    "marks",
    "marks",
  ]);
  const [first, second] = clients as [Client, Client];

  before(async () => {
    // The source's first hour: 20 newcomers say `no`, each at a station of its own.
    const marks = Array.from({ length: 20 }, (_, n) =>
      [first, second][n % 2]!.mark(placeOf(n), `newcomer-${n}`, { status: "no" }),
    );
    const outcomes = (await Promise.all(marks)).map((answer) => answer.body.published.outcome);
    expect(outcomes).not.to.include("held");
  });

  const fuelOf = async (n: number) =>
    (await first.get(`/stations/${placeOf(n).id}`)).body.station.fuel;
  const logged = (action: string) =>
    rows<{ actor: string; subject: string }>(
      country.db,
      "select actor, subject from operator_log where action = ? order by id",
      [action],
    );
  const reviewOf = async (id: string): Promise<string> =>
    (await rows<{ review: string }>(country.db, "select review from marks where id = ?", [id]))[0]!
      .review;
  /** Takes the record of the decision about one mark back, as one takes back a decision about many. */
  const takeBackRecord = (record: number) =>
    undoDecision(country.db, "c", ["approve", "reject"], record, () => undefined);
  const recordOf = async (mark: number): Promise<number> => {
    const sql = "select batch_id as id from mark_batch_marks where mark_id = ?";
    return (await rows<{ id: number }>(country.db, sql, [mark]))[0]!.id;
  };
  const hold = async (n: number, user: string, body: object = {}): Promise<Answer> => {
    const held = await second.mark(placeOf(n), user, { status: "no", ...body });
    expect(held.body.published.outcome).to.equal("held");
    return held;
  };

  it("holds the 21st newcomer's `no` of an hour through one secret key, and it is nobody's opinion", async () => {
    const held = await hold(20, "newcomer-20");
    expect(held.status).to.equal(200);
    expect(held.body).to.include({ accepted: true, duplicate: false });
    expect(held.body.published.status).to.equal("nodata");
    expect(held.body.fuel).to.include({ status: "nodata", pending_status: "", pending_count: 0 });
    expect(await fuelOf(20)).to.include({ pending_status: "", resolution_reason: "no_data" });
    const report = await second.get(`/reports/${held.body.report_id}`);
    expect(report.body).to.include({ state: "processed", accepted: true });
    expect(report.body.published.outcome).to.equal("held");
    await expectRefolded(country.db, instance.config);
    const alarms = await rows<{ subject: string; city: string }>(
      country.db,
      "select subject, city from alarms where kind = 'marks-held'",
    );
    expect(alarms).to.deep.equal([{ subject: `partner ${country.partnerId}`, city: "Тестоград" }]);
  });

  it("holds neither an old reporter's `no` nor a newcomer's `yes`; another key of the partner is the same source", async () => {
    await country.meet("veteran", 8 * 24 * 60);
    const veteran = await first.mark(placeOf(21), "veteran", { status: "no" });
    expect(veteran.body.published.outcome).to.equal("published");
    const yes = await first.mark(placeOf(22), "newcomer-22", { status: "yes" });
    expect(yes.body.published.outcome).to.equal("published");
    const secret = await addKey(country.db, country.partnerId);
    const other = createClient(webs[1]!.baseUrl, secret);
    const through = await other.mark(placeOf(23), "newcomer-23", { status: "no" });
    expect(through.body.published.outcome).to.equal("held");
  });

  it("holds a mark without losing a change by time that is due", async () => {
    const { id } = placeOf(45);
    expect((await first.mark(placeOf(45), "timely", { status: "yes" })).status).to.equal(200);
    const due =
      "update station_status set next_at = server_now() - interval '1 s' where station_id = ?";
    await rows(country.db, due, [id]);
    await hold(45, "late");
    const { config } = instance;
    await settleTransitions({
      db: country.db,
      config,
      log: createLog({ logLevel: "silent" }, "test"),
    });
    const told = await rows(country.db, "select 1 from time_changes where station_id = ?", [id]);
    expect(told).to.have.length(1);
  });

  it("stamps no station whose refold changes nothing", async () => {
    const { id } = placeOf(22);
    const stamp = () => rows(country.db, "select seq from changes where station_id = ?", [id]);
    const before = await stamp();
    expect(before).to.have.length(1);
    await rows(country.db, "update station_status set refold = true where station_id = ?", [id]);
    const sql = "select 1 from station_status where station_id = ? and refold";
    await until(
      () => rows(country.db, sql, [id]),
      ({ length }) => length === 0,
    );
    expect(await stamp()).to.deep.equal(before);
  });

  it("lets a held mark take the cooldown and the caps", async () => {
    await hold(24, "busy");
    const cooldown = await first.mark(placeOf(24), "busy", { status: "yes" });
    expect([cooldown.status, cooldown.body.window]).to.deep.equal([429, "1200s"]);
    for (const n of [25, 26, 27, 28, 29, 52, 53, 54, 55, 56, 57]) await hold(n, "busy");
    const capped = await first.mark(placeOf(30), "busy", { status: "yes" });
    expect([capped.status, capped.body.limit, capped.body.window]).to.deep.equal([
      429,
      12,
      "3600s",
    ]);
  });

  it("lets an approved mark count from its own effective time", async () => {
    // A fresh mark nearby, so that the approved one needs a second device.
    await first.mark(placeOf(30), "neighbour", { status: "yes" });
    const held = await hold(31, "approved", { observed_at: ago(30) });
    const id = String(held.body.report_id);
    const list = await operator("review", "list");
    const entry = list.json.find((one: { id: number }) => String(one.id) === id);
    expect(entry).to.include({ station_id: placeOf(31).id, status: "no", key_id: country.keyId });
    const since = (await first.get(`/stations/${placeOf(31).id}`)).body.as_of as string;

    const approved = await operator("review", "approve", id);
    expect(approved.json).to.deep.equal({
      id: Number(id),
      station_id: placeOf(31).id,
      review: "approved",
    });
    const report = await until(
      () => second.get(`/reports/${id}`),
      (answer) => answer.body.state === "processed" && answer.body.published.outcome !== "held",
    );
    expect(report.body.published).to.include({ outcome: "pending", have: 1, needed: 2 });
    const fuel = await until(
      () => fuelOf(31),
      (one) => one.pending_count === 1,
    );
    expect(fuel).to.include({ status: "nodata", pending_status: "no" });
    const delta = await second.get(`/stations/delta?updated_since=${encodeURIComponent(since)}`);
    expect(delta.body.stations.map((one: { id: string }) => one.id)).to.include(placeOf(31).id);
    await expectRefolded(country.db, instance.config);
    expect(await logged("review.approve")).to.deep.equal([
      { actor: "olga", subject: `mark ${id}` },
    ]);

    const again = await operator("review", "approve", id);
    expect([again.code, again.json.error]).to.deep.equal([
      1,
      `mark ${id} is not held: it is approved; \`operator review list\` shows the held marks`,
    ]);
    expect(await logged("review.approve")).to.have.length(1);
  });

  it("calls a station without a brand by its name and address alone", async () => {
    const station = placeOf(44).id;
    await rows(country.db, "update stations set brand = '' where id = ?", [station]);
    await hold(44, "newcomer-brandless");
    const listed = (await operator("review", "list")).json as { station_id: string }[];
    expect(listed.find((one) => one.station_id === station)).to.deep.include({
      station: `Station ${station}, Street 1`,
    });
  });

  it("never counts a rejected mark", async () => {
    const held = await hold(33, "rejected");
    const id = String(held.body.report_id);
    const done = await operator("review", "reject", id);
    expect(done.json).to.include({ id: Number(id), review: "rejected" });
    expect((await operator("review", "approve", id)).code).to.equal(1);
    expect((await operator("review", "reject", id)).code).to.equal(1);
    expect((await operator("review", "reject", "12345")).json.error).to.equal(
      "there is no mark 12345: `operator review list` shows the existing ones",
    );
    const list = await operator("review", "list");
    expect(list.json.map((one: { id: number }) => one.id)).not.to.include(Number(id));
    const report = await first.get(`/reports/${id}`);
    expect(report.body).to.include({ state: "processed", accepted: true });
    expect(report.body.published).to.include({ outcome: "superseded", status: "nodata", have: 0 });
    expect(await fuelOf(33)).to.include({ status: "nodata", pending_status: "" });
    await expectRefolded(country.db, instance.config);
    expect(await logged("review.reject")).to.deep.equal([{ actor: "olga", subject: `mark ${id}` }]);
  });

  it("takes the decision about one mark back, exactly, as decisions 13.20 says", async () => {
    const held = await hold(35, "back");
    const id = String(held.body.report_id);
    const [before, station] = [await storedOf(country.db), await fuelOf(35)];
    for (const verb of ["approve", "reject"]) {
      expect((await operator("review", verb, id)).json).to.include({ id: Number(id) });
      if (verb === "approve")
        await until(
          () => fuelOf(35),
          ({ pending_status: pending, status }) => pending === "no" || status === "no",
        );
      const undone = await operator("review", "undo", id);
      expect(undone.json).to.deep.equal({
        id: Number(id),
        station_id: placeOf(35).id,
        review: "held",
      });
      await until(
        async () => (await storedOf(country.db)).marks,
        (marks) => JSON.stringify(marks) === JSON.stringify(before.marks),
      );
      await until(
        () => fuelOf(35),
        (fuel) => JSON.stringify(fuel) === JSON.stringify(station),
      );
      const [entry] = await logged(`review.${verb}-undo`);
      expect(entry).to.deep.equal({ actor: "olga", subject: `mark ${id}` });
    }
    await expectRefolded(country.db, instance.config);
    const again = await operator("review", "undo", id);
    expect([again.code, again.json.error]).to.deep.equal([
      1,
      `mark ${id} is held: somebody has taken the decision back already, or nobody has decided it`,
    ]);
    expect(await logged("review.reject-undo")).to.have.length(1);
  });

  it("takes it back once when two operators do it at the same moment", async () => {
    const id = String((await hold(36, "both back")).body.report_id);
    await operator("review", "approve", id);
    // Before it is taken back: there is none afterwards.
    const record = await recordOf(Number(id));
    const both = await Promise.all([
      undoReview(by(country.db, "a"), {}, Number(id)),
      undoReview(by(country.db, "b"), {}, Number(id)),
      takeBackRecord(record),
    ]);
    const done = both.filter((one) => !isRefusal(one) && !("marks" in one && one.marks === 0));
    expect(done).to.have.length(1);
    expect(await reviewOf(id)).to.equal("held");
  });

  it("changes nothing where something else has happened since: a rollback, a decision about many", async () => {
    const rolled = String((await hold(37, "rolled")).body.report_id);
    await operator("review", "approve", rolled);
    await operator("marks", "rollback", "--station", placeOf(37).id);
    const undone = await operator("review", "undo", rolled);
    expect(undone.json.error).to.equal(
      `mark ${rolled} is withdrawn: there is no decision to take back`,
    );
    expect(await reviewOf(rolled)).to.equal("withdrawn");

    const many = String((await hold(38, "many")).body.report_id);
    const { json } = await operator("review", "reject", "--station", placeOf(38).id);
    const alone = await operator("review", "undo", many);
    expect(alone.json.error).to.equal(
      `mark ${many} was decided together with others: take decision ${json.id} back as a whole`,
    );
    expect(await reviewOf(many)).to.equal("rejected");
    expect((await operator("review", "undo", "12345")).json.error).to.equal(
      "there is no mark 12345: `operator review list` shows the existing ones",
    );
  });

  it("approves a held mark once when two operators do it at the same moment", async () => {
    const held = await hold(34, "twice");
    const id = String(held.body.report_id);
    const both = await Promise.all([
      operator("review", "approve", id),
      operator("review", "reject", id),
    ]);
    expect(both.map((one) => one.code).sort()).to.deep.equal([0, 1]);
  });
});
