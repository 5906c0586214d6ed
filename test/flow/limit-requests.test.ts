import { expect } from "chai";
import { isRefusal } from "#src/contract/refusals.ts";
import { rows } from "#src/infrastructure/db.ts";
import { undoLimitDecision, withdrawLimitRequest } from "#src/limits/limit-requests.ts";
import { by } from "#test/harness/by.ts";
import { runOperator, type Ran } from "#test/harness/operator.ts";
import { type Answer, type Client, createClient, until } from "#test/flow/client.ts";
import { addPartner } from "#test/flow/more-partners.ts";
import { useStage } from "#test/flow/stage.ts";

describe("flow: limit requests", function () {
  const { instance, country, webs } = useStage(1, ["web", "web"], {
    KEYS_REFRESH_MS: "15000",
  });
  const partner = async () => {
    const { id, secret } = await addPartner(country, { rpm: 1000, daily: 5000 });
    const clients = webs.map((web) => createClient(web.baseUrl, secret)) as [Client, Client];
    return { id, clients };
  };
  const operator = (...args: string[]): Promise<Ran> =>
    runOperator(instance.env, "limit-request", ...args, "--json", "--actor", "olga");
  const limits = ({ headers }: Answer): number[] =>
    ["x-ratelimit-limit", "x-ratelimit-daily-limit"].map((name) => Number(headers.get(name)));
  const wish = { requested_rpm: 2000, requested_daily: 90_000, comment: "Новый город" };

  it("of 50 at once over two processes take one, and refuse 49", async () => {
    const { id, clients } = await partner();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) => clients[i % 2]!.post("/limit-requests", wish)),
    );
    expect(answers.filter(({ status }) => status === 201)).to.have.length(1);
    const refused = answers.filter(({ status }) => status === 409);
    expect(refused).to.have.length(49);
    expect(refused[0]!.body.type).to.match(/\/limit-request-pending$/);
    const sql = "select status from limit_requests where partner_id = ?";
    expect(await rows(country.db, sql, [id])).to.deep.equal([{ status: "pending" }]);
  });

  it("apply by themselves on every process when they are approved, once", async () => {
    const { id, clients } = await partner();
    const asked = await clients[0].post("/limit-requests", wish);
    expect(asked.status).to.equal(201);
    const request = String(asked.body.id);
    const time = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/;
    expect(asked.body.created).to.match(time);
    expect(asked.body).to.deep.equal({
      id: asked.body.id,
      status: "pending",
      ...wish,
      created: asked.body.created,
      decided: null,
      decision_comment: "",
    });
    expect(limits(asked)).to.deep.equal([1000, 5000]);
    const listed = await operator("list", "--partner", String(id), "--status", "pending");
    expect(listed.json).to.have.length(1);
    expect(listed.json[0]).to.deep.include({ id: asked.body.id, partner_id: id, ...wish });

    const approved = await operator("approve", request);
    expect(approved.json).to.include({ status: "approved", rpm: 2000, daily: 90_000 });
    expect(approved.json).to.include({ granted_rpm: 2000, granted_daily: 90_000 });
    for (const client of clients) {
      await until(
        () => client.get("/cities"),
        (answer) => String(limits(answer)) === "2000,90000",
      );
    }
    const seen = await clients[1].get("/limit-requests");
    expect(seen.body.count).to.equal(1);
    expect(seen.body.requests[0]).to.include({ status: "approved", ...wish });
    expect(seen.body.requests[0].decided).to.match(time);
    expect((await clients[0].get("/usage")).body.limits).to.deep.equal({
      rpm: 2000,
      daily: 90_000,
    });

    for (const verb of ["approve", "reject"]) {
      const again = await operator(verb, request, "--comment", "late");
      expect(again.code).to.equal(1);
      expect(again.json.error).to.match(
        new RegExp(`^limit request ${request} is already approved`),
      );
    }
    expect((await operator("approve", "999999")).code).to.equal(1);
    const log = await rows(
      country.db,
      "select actor, action, details from operator_log where subject = ?",
      [`limit request ${request}`],
    );
    expect(log).to.deep.equal([
      {
        actor: "olga",
        action: "limit-request.approve",
        details: { partner: id, rpm: 2000, daily: 90_000, comment: "" },
      },
    ]);
  });

  it("are withdrawn by their partner alone, once, as decisions 12.15 has it, and the API tells of them no more", async () => {
    const { id, clients } = await partner();
    const other = await addPartner(country);
    const asked = (await clients[0].post("/limit-requests", wish)).body.id as number;
    const own = await withdrawLimitRequest(country.db, id, asked + 1000);
    const foreign = await withdrawLimitRequest(country.db, other.id, asked);
    expect([isRefusal(own) && own.code, isRefusal(foreign) && foreign.code]).to.deep.equal([
      "not-found",
      "not-found",
    ]);
    const both = await Promise.all([1, 2].map(() => withdrawLimitRequest(country.db, id, asked)));
    expect(both.filter((one) => !isRefusal(one))).to.have.length(1);
    expect((await clients[1].get("/limit-requests")).body).to.deep.equal({
      requests: [],
      count: 0,
    });
    for (const verb of ["approve", "reject", "undo"])
      expect((await operator(verb, String(asked))).json.error).to.include("withdrawn");
    expect((await clients[0].post("/limit-requests", wish)).status).to.equal(201);
    const listed = await operator("list", "--partner", String(id), "--status", "withdrawn");
    expect(listed.json).to.have.length(1);
    expect(listed.json[0]).to.include({ id: asked, granted_rpm: null });
    const log = "select actor, action, details from operator_log where subject = ?";
    expect(await rows(country.db, log, [`limit request ${asked}`])).to.deep.equal([
      { actor: `partner ${id}`, action: "limit-request.withdraw", details: { partner: id } },
    ]);
  });

  it("are decided once when two operators decide at the same moment", async () => {
    const { id, clients } = await partner();
    const request = String((await clients[0].post("/limit-requests", wish)).body.id);
    const decisions = await Promise.all([
      operator("approve", request, "--rpm", "3000"),
      operator("reject", request),
      operator("approve", request, "--rpm", "4000"),
    ]);
    const done = decisions.filter(({ code }) => code === 0);
    expect(done).to.have.length(1);
    const sql = "select rpm from partners where id = ?";
    expect(await rows(country.db, sql, [id])).to.deep.equal([{ rpm: done[0]!.json.rpm ?? 1000 }]);
  });

  it("are pending again when the decision is taken back, and the limits and the partner's webhook say so, as decisions 13.21 has it", async () => {
    const { id, clients } = await partner();
    await rows(
      country.db,
      `insert into webhook_endpoints (partner_id, url, events, secret)
       values (?, 'https://a.example', '{limit_request.decided}', '')`,
      [id],
    );
    const asked = await clients[0].post("/limit-requests", wish);
    const request = String(asked.body.id);
    await operator("approve", request, "--rpm", "1500", "--comment", "Half of it");
    await until(
      () => clients[1].get("/cities"),
      (answer) => String(limits(answer)) === "1500,90000",
    );
    const undone = await operator("undo", request);
    expect(undone.json).to.include({ status: "pending", rpm: 1000, daily: 5000, decided: null });
    for (const client of clients)
      await until(
        () => client.get("/cities"),
        (answer) => String(limits(answer)) === "1000,5000",
      );
    const [shown] = (await clients[1].get("/limit-requests")).body.requests;
    expect(shown).to.deep.equal(asked.body);
    const told = await rows<{ data: object }>(
      country.db,
      `select d.data from webhook_deliveries d join webhook_endpoints e on e.id = d.endpoint_id
       where e.partner_id = ? order by d.id`,
      [id],
    );
    expect(told.map(({ data }) => data)).to.have.length(2);
    expect(told[0]!.data).to.include({ status: "approved", decision_comment: "Half of it" });
    expect(told[1]!.data).to.deep.equal(asked.body);

    const again = await operator("undo", request);
    expect([again.code, again.json.error]).to.deep.equal([
      1,
      `limit request ${request} is pending: somebody has taken the decision back already, or nobody has decided it`,
    ]);
    // Decided anew, and taken back by two at the same moment.
    expect((await operator("reject", request)).json.status).to.equal("rejected");
    const both = await Promise.all([operator("undo", request), operator("undo", request)]);
    expect(both.map(({ code }) => code).sort()).to.deep.equal([0, 1]);
    const log = await rows<{ action: string; details: object }>(
      country.db,
      "select action, details from operator_log where subject = ? and action like '%-undo' order by id",
      [`limit request ${request}`],
    );
    const details = { partner: id, rpm: 1000, daily: 5000 };
    expect(log).to.deep.equal([
      { action: "limit-request.approve-undo", details },
      { action: "limit-request.reject-undo", details },
    ]);
  });

  it("stay decided when something else has changed since: the limits, or the partner has asked again", async () => {
    const { id, clients } = await partner();
    const [one] = clients;
    const first = String((await one.post("/limit-requests", wish)).body.id);
    await operator("approve", first);
    await runOperator(instance.env, "partner", "update", String(id), "--rpm", "1700", "--json");
    const changed = await operator("undo", first);
    expect([changed.code, changed.json.error]).to.deep.equal([
      1,
      `limit request ${first} gave limits that were changed since, to 1700 a minute and 90000 a day`,
    ]);
    await runOperator(instance.env, "partner", "update", String(id), "--rpm", "2000", "--json");
    await one.post("/limit-requests", { ...wish, requested_rpm: 2500 });
    const asked = await operator("undo", first);
    expect(asked.json.error).to.equal(
      `limit request ${first} is not the newest: its partner has sent another request since`,
    );
    const sql =
      "select p.rpm, r.status from partners p join limit_requests r on r.partner_id = p.id where r.id = ?";
    expect(await rows(country.db, sql, [first])).to.deep.equal([{ rpm: 2000, status: "approved" }]);
    expect((await operator("undo", "999999")).code).to.equal(1);
  });

  it("are either pending again or followed by the next one when both happen at the same moment", async () => {
    for (const _ of [1, 2, 3, 4]) {
      const { id, clients } = await partner();
      const request = (await clients[0].post("/limit-requests", wish)).body.id as number;
      await operator("reject", String(request));
      const [undone, next] = await Promise.all([
        undoLimitDecision(by(country.db, "olga"), {}, request),
        clients[1].post("/limit-requests", wish),
      ]);
      expect(next.status).to.equal(isRefusal(undone) ? 201 : 409);
      const pending = "select id from limit_requests where partner_id = ? and status = 'pending'";
      expect(await rows(country.db, pending, [id])).to.have.length(1);
    }
  });

  it("can be edited or rejected with a comment, and then another can be sent", async () => {
    const { clients } = await partner();
    const [one, two] = clients;
    const first = await one.post("/limit-requests", { requested_rpm: 1, requested_daily: 1 });
    expect(first.body.comment).to.equal("");
    await operator("reject", String(first.body.id), "--comment", "Too little");
    expect(limits(await two.get("/cities"))).to.deep.equal([1000, 5000]);
    const second = await two.post("/limit-requests", wish);
    expect(second.status).to.equal(201);
    const edited = ["--rpm", "1500", "--comment", "Half of it"];
    await operator("approve", String(second.body.id), ...edited);
    await until(
      () => one.get("/cities"),
      (answer) => String(limits(answer)) === "1500,90000",
    );
    const { requests } = (await one.get("/limit-requests")).body;
    expect(
      requests.map((each: Record<string, unknown>) => [
        each["status"],
        each["requested_rpm"],
        each["decision_comment"],
      ]),
    ).to.deep.equal([
      ["approved", 2000, "Half of it"],
      ["rejected", 1, "Too little"],
    ]);
    expect((await one.get("/limit-requests?limit=1")).body).to.deep.include({ count: 1 });
    expect((await one.get("/limit-requests?limit=1")).body.requests[0].id).to.equal(second.body.id);
  });

  it("are refused with 422 when a field is missing, out of range or of another type", async () => {
    const { id, clients } = await partner();
    for (const body of [
      {},
      { requested_rpm: 1 },
      { ...wish, requested_rpm: 0 },
      { ...wish, requested_rpm: 100_001 },
      { ...wish, requested_daily: 100_000_001 },
      { ...wish, requested_daily: 1.5 },
      { ...wish, requested_daily: "5" },
      { ...wish, comment: "ё".repeat(501) },
      { ...wish, comment: "a\0b" },
      { ...wish, comment: 5 },
      [],
    ]) {
      const { status, body: answer } = await clients[0].post("/limit-requests", body);
      expect([status, Array.isArray(answer.detail)], JSON.stringify(body)).to.deep.equal([
        422,
        true,
      ]);
    }
    for (const limit of ["0", "101", "x"])
      expect((await clients[0].get(`/limit-requests?limit=${limit}`)).status).to.equal(422);
    const sql = "select id from limit_requests where partner_id = ?";
    expect(await rows(country.db, sql, [id])).to.deep.equal([]);
    const longest = { ...wish, comment: "😀".repeat(500) };
    expect((await clients[0].post("/limit-requests", longest)).status).to.equal(201);
  });
});
