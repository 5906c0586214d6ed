import { expect } from "chai";
import type { ConsoleBlock, ConsoleDecision } from "#src/contract/decisions.ts";
import { raiseAlarms } from "#src/alarms/raise.ts";
import type { ConsoleAlarm } from "#src/contract/console.ts";
import { dayMs } from "#src/domain/units.ts";
import { rows } from "#src/infrastructure/db.ts";
import { up as storeUndos } from "#migrations/0063_store_undos.ts";
import { placeOf } from "#test/flow/country.ts";
import { useAccount } from "#test/flow/console-client.ts";
import { fillReview, holdMark } from "#test/flow/held-marks.ts";
import { useStage } from "#test/flow/stage.ts";

describe("flow: the page of decisions", function () {
  const { country, web, client } = useStage(60, ["web", "marks"], {
    SIGN_INS_PER_MINUTE: "1000",
  });
  const olga = useAccount(country, () => web.baseUrl);
  const nina = useAccount(country, () => web.baseUrl, "nina");
  let place = 0;

  before(async () => {
    place = await fillReview(client, 0);
  });

  const list = async (query = ""): Promise<ConsoleDecision[]> => {
    const { status, body } = await olga.call("GET", `/decisions?${query}`);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.decisions as ConsoleDecision[];
  };
  const newest = async (): Promise<ConsoleDecision> => (await list())[0]!;
  const byId = async (id: number): Promise<ConsoleDecision> => (await list(`entry=${id}`))[0]!;
  const did = async (method: string, path: string, body?: object): Promise<ConsoleDecision> => {
    const answer = await olga.call(method, path, body);
    expect(answer.status, JSON.stringify(answer.body)).to.be.oneOf([200, 201, 204]);
    return newest();
  };
  /** Takes it back by the call that the page is given, as another operator. */
  const takeBack = async ({ undo }: ConsoleDecision): Promise<void> => {
    const { status, body } = await nina.call(undo!.method, undo!.path, undo!.body);
    expect(status, JSON.stringify(body)).to.be.oneOf([200, 204]);
  };
  const one = async <Row extends object>(sql: string, ...values: unknown[]): Promise<Row> =>
    (await rows<Row>(country.db, sql, values))[0]!;

  it("takes a decision about one mark back, also much later, and says who did", async () => {
    const id = Number(await holdMark(client, place++));
    const made = await did("POST", "/review/reject", { ids: [id] });
    expect(made).to.deep.include({ actor: "olga", action: "review.reject", subject: `mark ${id}` });
    expect(made.page).to.equal(`/review/${String(made.details["id"])}`);
    expect(
      (await olga.call("GET", `/review/decisions/${String(made.details["id"])}`)).status,
    ).to.equal(200);
    await takeBack(made);
    const sql = "select review from marks where id = ?";
    expect(await one(sql, id)).to.deep.equal({ review: "held" });
    const { undo, since } = await byId(made.id);
    expect([undo, since?.actor, since?.undone]).to.deep.equal([null, "nina", true]);
    expect(await newest()).to.include({ action: "review.reject-undo", actor: "nina", undo: null });
  });

  it("takes a decision about a group, and a rollback, back", async () => {
    for (const [kind, path, call] of [
      ["review", "review", "/review/groups/approve"],
      ["rollback", "rollback", "/rollback"],
    ] as const) {
      await holdMark(client, place);
      const reason = kind === "rollback" ? { reason: " seen in the attack " } : {};
      const made = await did("POST", call, { station: placeOf(place++).id, ...reason });
      if (kind === "rollback") expect(made.details["reason"]).to.equal("seen in the attack");
      expect(made.details).to.include({ marks: 1, stations: 1 });
      expect(made.page).to.equal(`/${path}/${String(made.details["id"])}`);
      expect((await list(`kind=${kind}`))[0]).to.deep.equal(made);
      await takeBack(made);
      expect((await byId(made.id)).since).to.include({ actor: "nina", undone: true });
      expect((await newest()).page).to.equal(made.page);
    }
  });

  it("gives a station's edit back, each field as it was, until somebody has changed it again", async () => {
    const { id, lat, lon } = placeOf(50);
    const path = `/stations/${id}`;
    const name = `Station ${id}`;
    const first = await did("PATCH", path, { name: "First", position: { lat: lat + 0.001, lon } });
    expect(first).to.include({ name: "First", page: `/stations/${id}` });
    const other = await did("PATCH", path, { addr: "Elsewhere" });
    await takeBack(await byId(first.id));
    const { body } = await olga.call("GET", path);
    expect(body.station).to.include({ name, addr: "Elsewhere", lat, lon });
    // What the imports have is the imports' again: no edit is left of it.
    expect(body.by_hand).to.include({ name: null, position: null });
    expect((await byId(first.id)).undo).to.equal(null);
    const again = await did("PATCH", path, { addr: "Nowhere" });
    expect(await byId(other.id)).to.deep.include({ undo: null });
    expect((await byId(other.id)).since).to.include({ actor: "olga", undone: false });
    await takeBack(again);
    expect((await olga.call("GET", path)).body.station.addr).to.equal("Elsewhere");
    // Nothing is taken back over somebody's head.
    const stale = await did("PATCH", path, { addr: "Here" });
    await nina.call("PATCH", path, { addr: "There" });
    const refused = await nina.call(stale.undo!.method, stale.undo!.path, stale.undo!.body);
    expect([refused.status, refused.body.detail[0].msg]).to.deep.equal([
      422,
      'Has changed meanwhile: it is now "There"',
    ]);
  });

  it("opens what was closed, and ends what was blocked, limited, launched, paused or renamed", async () => {
    const { id } = placeOf(51);
    const until = Date.now() + dayMs;
    const { reporter } = await one<{ reporter: number }>(
      "select max(reporter_id) as reporter from marks",
    );
    const feed = await olga.call("POST", "/feeds", { source: "it-mimit", every_s: 3600 });
    const launch = { until, new_users: 10, limit: 10 };
    for (const [method, path, body, sql] of [
      [
        "POST",
        `/stations/${id}/close`,
        {},
        `select removed_at as v from stations where id = '${id}'`,
      ],
      [
        ...["POST", `/stations/${placeOf(52).id}/merge`],
        { other: placeOf(53).id },
        `select removed_at as v from stations where id = '${placeOf(52).id}'`,
      ],
      [
        ...["POST", `/reporters/${reporter}/block`],
        { until },
        `select blocked_until as v from reporters where id = ${reporter}`,
      ],
      [
        ...["POST", `/keys/${country.keyId}/limit`],
        { to: 1, until },
        `select limited_until as v from keys where id = ${country.keyId}`,
      ],
      [
        ...["POST", `/partners/${country.partnerId}/launch`],
        launch,
        `select launch_until as v from partners where id = ${country.partnerId}`,
      ],
      ["POST", `/feeds/${feed.body.id}/pause`, undefined, "select paused_at as v from feeds"],
      [
        "POST",
        "/brands/Brand/alias",
        { brand: "Shell" },
        "select max(key) as v from brand_aliases",
      ],
      [
        "POST",
        "/field-sources/name",
        { sources: ["test"] },
        "select max(field) as v from field_sources",
      ],
    ] as [string, string, object | undefined, string][]) {
      const made = await did(method, path, body);
      expect(await one(sql), path).not.to.deep.equal({ v: null });
      await takeBack(made);
      expect(await one(sql), path).to.deep.equal({ v: null });
      const { undo, since } = await byId(made.id);
      expect([undo, since?.actor], path).to.deep.equal([null, "nina"]);
    }
  });

  it("gives settings of a partner and a key back, in their former form", async () => {
    const expires = Math.floor(Date.now() / 1000) * 1000 + dayMs;
    for (const [path, changes, sql] of [
      [
        `/partners/${country.partnerId}`,
        { rpm: 7, cache_ttl_s: 5 },
        `select rpm, cache_ttl_s from partners where id = ${country.partnerId}`,
      ],
      [
        `/keys/${country.keyId}`,
        { label: "note", ips: ["10.0.0.0/8"], expires },
        `select label, ips, expires_at from keys where id = ${country.keyId}`,
      ],
    ] as const) {
      const before = await one(sql);
      const made = await did("PATCH", path, changes);
      expect(made).to.include({ name: "Test partner", page: `/partners/${country.partnerId}` });
      expect(await one(sql)).not.to.deep.equal(before);
      await takeBack(made);
      expect(await one(sql)).to.deep.equal(before);
    }
  });

  it("takes nothing back over the head of a faster operator, and gives a block its former end back", async () => {
    const partner = `/partners/${country.partnerId}`;
    const setting = await did("PATCH", partner, { rpm: 9000 });
    await olga.call("PATCH", partner, { rpm: 11_000 });
    const late = await nina.call(setting.undo!.method, setting.undo!.path, setting.undo!.body);
    expect([late.status, late.body.detail[0].msg]).to.deep.equal([
      422,
      "Has changed meanwhile: it is now 11000",
    ]);
    expect(await one("select rpm from partners where id = ?", country.partnerId)).to.include({
      rpm: 11_000,
    });

    const { id } = await one<{ id: number }>("select min(id) as id from reporters");
    const end = async (): Promise<number> =>
      (await one<{ at: number }>(
        "select (extract(epoch from blocked_until) * 1000)::bigint as at from reporters where id = ?",
        id,
      ))!.at;
    const [first, second] = [Date.now() + dayMs, Date.now() + 2 * dayMs];
    await did("POST", `/reporters/${id}/block`, { until: first });
    const longer = await did("POST", `/reporters/${id}/block`, { until: second });
    await takeBack(longer);
    expect(await end()).to.equal(first);
    const again = await did("POST", `/reporters/${id}/block`, { until: second });
    await olga.call("POST", `/reporters/${id}/block`, { until: first });
    const refused = await nina.call(again.undo!.method, again.undo!.path, again.undo!.body);
    expect([refused.status, refused.body.title]).to.deep.equal([409, "Done or decided already"]);
    expect(refused.body.detail).to.include("was changed by olga meanwhile (reporter.block)");
    expect(await end()).to.equal(first);
    await did("POST", `/reporters/${id}/block`, { until: null });
  });

  it("shows the blocks in force, for a reporter until it is ended", async () => {
    const until = Date.now() + dayMs;
    const { id } = await one<{ id: number }>("select min(id) as id from reporters");
    await did("POST", `/reporters/${id}/block`, { until });
    const blocks = async (): Promise<ConsoleBlock[]> =>
      (await olga.call("GET", "/blocks")).body.blocks as ConsoleBlock[];
    expect(await blocks()).to.deep.equal([{ kind: "reporter", id: String(id), until }]);
    await did("POST", `/reporters/${id}/block`, { until: null });
    expect(await blocks()).to.deep.equal([]);
    // Taking the end of a block back blocks until its former end.
    expect((await newest()).undo!.body).to.deep.equal({ until });
  });

  it("says of an alarm that it is handled when nothing of it is left to decide, and whose it is", async () => {
    const subject = { code: "partner", partner: country.partnerId } as const;
    const at = Date.now();
    await raiseAlarms(country.db, [
      { kind: "marks-held", subject, city: "Тестоград", at },
      { kind: "marks-held", subject, city: "Elsewhere", at },
      { kind: "webhook-off", subject, at, details: { webhook: 999, reason: "gone" } },
      { kind: "deletion-waits", subject: { code: "retention", retention: "opinions" }, at },
      { kind: "mark-failed", subject: { code: "station", station: placeOf(0).id }, at },
    ]);
    await rows(
      country.db,
      "insert into retention_steps (step, asked_at) values ('opinions', server_now())",
    );
    const handled = async (): Promise<string[]> => {
      const { body } = await olga.call("GET", "/alarms");
      const alarms = body.alarms as ConsoleAlarm[];
      expect(alarms.find(({ kind }) => kind === "webhook-off")!.partner).to.equal("Test partner");
      expect(alarms.find(({ kind }) => kind === "mark-failed")!.partner).to.equal(null);
      const found = alarms
        .filter((alarm) => alarm.handled)
        .map(({ kind, city }) => `${kind} ${city}`);
      return [...new Set(found)].toSorted();
    };
    const station = placeOf(place).id;
    await holdMark(client, place++);
    expect(await handled()).to.deep.equal(["marks-held Elsewhere", "webhook-off "]);
    const held = await rows<{ id: number }>(
      country.db,
      "select id from marks where review = 'held'",
    );
    const ids = held.map(({ id }) => id);
    await olga.call("POST", "/review/reject", { ids });
    await rows(country.db, "update retention_steps set allowed_at = server_now()");
    const all = ["deletion-waits ", "marks-held Elsewhere", "marks-held Тестоград", "webhook-off "];
    expect(await handled()).to.deep.equal(all);
    // A decision that is taken back opens it again.
    const last = (await list("kind=review")).find(({ details }) => details["station"] === station)!;
    await takeBack(last);
    expect(await handled()).not.to.include("marks-held Тестоград");
  });

  it("goes back page by page, by kind and by operator, and knows no unknown kind", async () => {
    const sql = `insert into operator_log (actor, action, subject)
      select 'vera', 'key.revoke', 'key ' || 1000 + n from generate_series(1, 100) n`;
    await rows(country.db, sql);
    const page = (await olga.call("GET", "/decisions?actor=ver&kind=key")).body;
    expect(page.decisions).to.have.length(50);
    const rest = (await olga.call("GET", `/decisions?actor=ver&before=${page.next}`)).body;
    expect([rest.decisions.length, rest.next]).to.deep.equal([50, null]);
    const log = (await olga.call("GET", "/log?actor=vera&action=key.revoke")).body;
    expect([log.entries.length, log.next]).to.deep.equal([100, null]);
    expect(await list("kind=block&actor=ver")).to.deep.equal([]);
    expect((await olga.call("GET", "/decisions?kind=other")).status).to.equal(422);
    // Signing in is no decision.
    expect((await list()).map(({ action }) => action)).not.to.include("console.sign-in");
  });

  it("gives entries of an earlier version the same undo, by the migration", async () => {
    // What a file has is compared with the file of now: all of these edits have been taken back.
    const sql = `select id, action, undo from operator_log where undo is not null
      and undo #> '{body,from_file}' is null order by id`;
    const stored = await rows<{ id: number; action: string }>(country.db, sql);
    const actions = new Set(stored.map(({ action }) => action));
    expect(actions.size, [...actions].join()).to.be.at.least(11);
    const tx = await country.db.transaction();
    try {
      await tx.raw("alter table operator_log drop column undo");
      await storeUndos(tx);
      const ids = stored.map(({ id }) => id);
      const filled = await rows(
        tx,
        "select id, action, undo from operator_log where id = any(?) order by id",
        [ids],
      );
      expect(filled).to.deep.equal(stored);
    } finally {
      await tx.rollback();
    }
  });
});
