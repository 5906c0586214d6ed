import { expect } from "chai";
import { dashboardCalls } from "#api/dashboard/pages.ts";
import { sessionCookie } from "#api/pages/session-cookie.ts";
import { rows } from "#src/infrastructure/db.ts";
import { revokeKey } from "#src/keys/issued-keys.ts";
import { by } from "#test/harness/by.ts";
import { addKey, useEdgeOn } from "#test/api/edge.ts";
import { addPartner, type OtherPartner } from "#test/flow/more-partners.ts";
import { createClient } from "#test/flow/client.ts";
import { createPageClient, type PageClient } from "#test/flow/page-client.ts";
import { useStage } from "#test/flow/stage.ts";

/** What a reader by a link may call; everything else needs the key. */
const forReaders = [
  "DELETE /session",
  "GET /errors",
  "GET /errors.csv",
  "GET /hours",
  "GET /keys",
  "GET /limit-requests",
  "GET /marks",
  "GET /overview",
  "GET /recent",
  "GET /session",
  "GET /usage.csv",
];
const bodies: Record<string, object> = {
  "POST /keys/rotate": { days: 1 },
  "POST /limit-requests": { requested_rpm: 2000, requested_daily: 90_000 },
  "POST /webhooks": { url: "https://a.example/", events: ["stations.changed"] },
  "PATCH /webhooks/{id}": { enabled: false },
  "POST /links": { label: "Another", days: 1 },
};

describe("flow: links that show the dashboard", function () {
  const { instance, country } = useStage(1, [], {
    SIGN_INS_PER_MINUTE: "1000",
    PAGE_CALLS_PER_MINUTE: "100000",
  });
  const edge = useEdgeOn(instance);
  let partner: OtherPartner;
  let owner: PageClient;

  const page = (): PageClient => createPageClient(edge.origin, "dashboard");
  const signedIn = async (key: string): Promise<PageClient> => {
    const client = page();
    expect((await client.post("/session", { key })).status).to.equal(201);
    return client;
  };
  beforeEach(async () => {
    partner = await addPartner(country);
    owner = await signedIn(partner.secret);
  });
  const make = async (label = "The manager", days = 30) => {
    const { status, body } = await owner.post("/links", { label, days });
    expect(status).to.equal(201);
    return { ...body, token: new URL(body.url).hash.slice("#link=".length) };
  };
  const follow = async (token: string): Promise<PageClient> => {
    const client = page();
    expect((await client.post("/session/link", { token })).status).to.equal(201);
    return client;
  };
  const logged = () =>
    rows<{ action: string; details: Record<string, unknown> }>(
      country.db,
      "select action, details from operator_log where actor = ? order by id",
      [`partner ${partner.id}`],
    );

  it("open it for a reader, who may call this and nothing else, call by call", async () => {
    const cookie = sessionCookie("dashboard", instance.config);
    const calls = dashboardCalls(edge.web.services, cookie);
    const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`;
    expect(
      calls
        .filter(({ role }) => role === "reader")
        .map(nameOf)
        .sort(),
    ).to.deep.equal(forReaders);
    const { token } = await make();
    const before = await rows(country.db, "select * from operator_log order by id");
    for (const call of calls) {
      const reader = await follow(token);
      const path = call.path.replaceAll(/\{\w+\}/g, "1");
      const sent = call.method === "GET" ? undefined : (bodies[nameOf(call)] ?? {});
      const { status, body } = await reader.call(call.method, path, sent);
      const said = status < 300 ? "ok" : `${status} ${String(body.type).split("/").at(-1)}`;
      const expected = forReaders.includes(nameOf(call)) ? "ok" : "403 secret-key-required";
      expect(said, nameOf(call)).to.equal(expected);
    }
    expect(await rows(country.db, "select * from operator_log order by id")).to.deep.equal(before);
    // Signing out has not ended it for others.
    expect((await (await follow(token)).get("/overview")).status).to.equal(200);
  });

  it("are no key, and store no text by which they could be used", async () => {
    const { token, url } = await make();
    expect(url).to.equal(`${instance.config.baseUrl}/dashboard/#link=${token}`);
    const api = await createClient(edge.origin, token).get("/cities");
    expect(api.status).to.equal(401);
    expect((await page().post("/session", { key: token })).status).to.equal(401);
    const stored = JSON.stringify(await rows(country.db, "select * from sessions"));
    expect(stored).not.to.include(token);
    expect(JSON.stringify(await logged())).not.to.include(token);
    // A session of the key opens nothing as a link.
    const own = owner.cookie.split("=")[1]!;
    expect((await page().post("/session/link", { token: own })).status).to.equal(401);
  });

  it("are listed with their use, ended at once, and written to the log", async () => {
    const { id, token } = await make("  The manager ");
    const reader = await follow(token);
    expect((await reader.get("/session")).body).to.include({ link: "The manager" });
    const [shown] = (await owner.get("/links")).body.links;
    expect(shown).to.include({ id, label: "The manager", over: false, ended: null, seen: null });
    await rows(
      country.db,
      "update sessions set created_at = created_at - interval '1 day', last_seen_at = last_seen_at - interval '1 day' where id = ?",
      [id],
    );
    await reader.get("/overview");
    const [seen] = (await owner.get("/links")).body.links;
    expect(seen.seen).to.be.within(Date.now() - 60_000, Date.now() + 1000);
    const other = await signedIn((await addPartner(country)).secret);
    expect((await other.call("DELETE", `/links/${id}`)).status).to.equal(404);
    expect((await other.get("/links")).body).to.deep.equal({ links: [] });
    expect((await owner.call("DELETE", `/links/${id}`)).status).to.equal(204);
    expect((await owner.call("DELETE", `/links/${id}`)).status).to.equal(409);
    expect((await reader.get("/overview")).status).to.equal(401);
    expect((await page().post("/session/link", { token })).status).to.equal(401);
    expect((await owner.get("/links")).body.links[0]).to.include({ over: true });
    const log = await logged();
    expect(log.map(({ action }) => action)).to.deep.equal(["link.make", "link.end"]);
    expect(log[0]!.details).to.include({ partner: partner.id });
    expect(JSON.stringify(log)).not.to.include("The manager");
  });

  it("end on their day, with the key that made them, and with their partner", async () => {
    const soon = await addKey(country.db, partner.id, "secret", {
      expires_at: new Date(Date.now() + 2 * 86_400_000),
    });
    owner = await signedIn(soon);
    const { expires } = await make();
    expect(expires).to.be.below(Date.now() + 2 * 86_400_000 + 1000);
    for (const sql of [
      "update sessions set expires_at = server_now() - interval '1 s' where id = ?",
      "update keys set revoked_at = server_now() where id = (select subject_id from sessions where id = ?)",
      "update partners p set enabled = false from sessions s join keys k on k.id = s.subject_id where s.id = ? and p.id = k.partner_id",
    ]) {
      partner = await addPartner(country);
      owner = await signedIn(partner.secret);
      const { id, token } = await make();
      const reader = await follow(token);
      expect((await reader.get("/overview")).status).to.equal(200);
      await rows(country.db, sql, [id]);
      expect((await reader.get("/overview")).status, sql).to.equal(401);
      expect((await page().post("/session/link", { token })).status, sql).to.be.oneOf([401, 403]);
    }
  });

  it("are ended by the revocation of their key itself", async () => {
    const { token } = await make();
    const { key } = (await owner.get("/session")).body;
    await revokeKey(by(country.db, "olga"), {}, key.id);
    await rows(country.db, "update keys set revoked_at = null where id = ?", [key.id]);
    expect((await page().post("/session/link", { token })).status).to.equal(401);
  });

  it("need a name and an end, and are twenty at most, also when many are made at once", async () => {
    for (const body of [
      {},
      { label: " ", days: 3 },
      { label: "a\nb", days: 3 },
      { label: "x".repeat(101), days: 3 },
      { label: "x", days: 0 },
      { label: "x", days: 366 },
      { label: "x", days: 1.5 },
      { label: "x", days: 3, kind: "operator" },
    ])
      expect((await owner.post("/links", body)).status, JSON.stringify(body)).to.equal(422);
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, n) => owner.post("/links", { label: `r ${n}`, days: 1 })),
    );
    const made = answers.filter(({ status }) => status === 201);
    expect([made.length, answers.length - made.length]).to.deep.equal([20, 4]);
    expect((await owner.call("DELETE", `/links/${made[0]!.body.id}`)).status).to.equal(204);
    await make();
  });
});
