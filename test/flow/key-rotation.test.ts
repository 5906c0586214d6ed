import { expect } from "chai";
import { isRefusal } from "#src/contract/refusals.ts";
import { dayMs } from "#src/domain/units.ts";
import { rows } from "#src/infrastructure/db.ts";
import { findKey, listKeys } from "#src/keys/issued-keys.ts";
import { rotateKey } from "#src/keys/rotation.ts";
import { tellExpiringKeys } from "#src/pushes/webhooks/outbox.ts";
import { addKey } from "#test/api/edge.ts";
import { createClient, until } from "#test/flow/client.ts";
import { addPartner, type OtherPartner } from "#test/flow/more-partners.ts";
import { createPageClient, type PageClient } from "#test/flow/page-client.ts";
import { useStage } from "#test/flow/stage.ts";

describe("flow: a partner replaces its key (decisions 8.36)", function () {
  const { country, webs, web } = useStage(3, ["web", "web"], {
    SIGN_INS_PER_MINUTE: "1000",
    WEBHOOK_NETWORKS: "10.0.0.1",
  });
  let partner: OtherPartner;

  beforeEach(async () => {
    partner = await addPartner(country);
    await age(partner.id, 25);
  });

  /** Makes a partner's keys so many hours old. */
  const age = (partnerId: number, hours: number) =>
    rows(
      country.db,
      "update keys set created_at = server_now() - ?::int * interval '1 hour' where partner_id = ?",
      [hours, partnerId],
    );
  const signedIn = async (key = partner.secret): Promise<PageClient> => {
    const page = createPageClient(web.baseUrl, "dashboard");
    expect((await page.post("/session", { key })).status).to.equal(201);
    return page;
  };
  const idOf = async (secret: string): Promise<number> => {
    const keys = await listKeys(country.db, partner.id);
    return keys.find(({ prefix }) => secret.startsWith(prefix))!.id;
  };
  const works = async (key: string): Promise<number[]> =>
    Promise.all(
      webs.map(async (web) => (await createClient(web.baseUrl, key).get("/cities")).status),
    );
  const logged = () =>
    rows<{ actor: string; subject: string; details: Record<string, unknown> }>(
      country.db,
      `select actor, subject, details from operator_log where action = 'key.rotate'
         and actor = ? order by id`,
      [`partner ${partner.id}`],
    );

  it("gets a new one with the same settings, shown once, and both work until the old one ends", async () => {
    const old = await idOf(partner.secret);
    const settings = {
      label: "server",
      ips: ["127.0.0.1/32", "10.1.0.0/16"],
      confirm_min: 3,
      reports: false,
      mass_no_limit: 7,
      limited_to: 2,
      limited_until: new Date(Date.now() + dayMs),
    };
    await country.db("keys").where({ id: old }).update(settings);
    const page = await signedIn();
    const answer = await page.post("/keys/rotate", { days: 3 });
    expect(answer.status).to.equal(201);
    expect(answer.headers.get("cache-control")).to.equal("no-store");
    const {
      id,
      key,
      old_ends: ends,
    } = answer.body as {
      id: number;
      key: string;
      old_ends: number;
    };
    expect(key).to.match(/^svc_live_/);
    expect(ends - Date.now()).to.be.within(3 * dayMs - 60_000, 3 * dayMs);
    expect(await works(key)).to.deep.equal([200, 200]);
    expect(await works(partner.secret)).to.deep.equal([200, 200]);
    const { ips, ...plain } = settings;
    const made = (await findKey(country.db, id))!;
    expect(made).to.deep.include({ ...plain, kind: "secret", partner_id: partner.id });
    expect(made.ips).to.deep.equal(ips);
    expect(made.expires_at).to.equal(null);
    const shown = (await page.get("/keys")).body;
    expect(JSON.stringify(shown)).not.to.include(key);
    expect(shown.keys.find((one: { current: boolean }) => one.current).expires).to.equal(ends);
    const [entry, ...more] = await logged();
    expect(more).to.deep.equal([]);
    expect(entry!.subject).to.equal(`key ${id}`);
    expect(entry!.details).to.include({ partner: partner.id, replaces: old });
    expect(JSON.stringify(entry)).not.to.include(key);

    await country
      .db("keys")
      .where({ id: old })
      .update({ expires_at: new Date(Date.now() - 1000) });
    await country.db.raw("notify keys");
    await until(
      () => works(partner.secret),
      (now) => now.join() === "401,401",
    );
    expect((await page.get("/keys")).status).to.equal(401);
    expect(await works(key)).to.deep.equal([200, 200]);
    expect((await (await signedIn(key)).get("/keys")).status).to.equal(200);
  });

  it("is told of the end by the webhook event, once", async () => {
    const api = createClient(web.baseUrl, partner.secret);
    const hook = { url: "https://10.0.0.1/", events: ["key.expiring"] };
    const { body: webhook } = await api.post("/webhooks", hook);
    const page = await signedIn();
    await page.post("/keys/rotate", { days: 6 });
    await tellExpiringKeys(country.db);
    await tellExpiringKeys(country.db);
    const told = await rows<{ data: Record<string, unknown> }>(
      country.db,
      "select data from webhook_deliveries where endpoint_id = ? and type = 'key.expiring'",
      [webhook.id],
    );
    expect(told).to.have.length(1);
    expect(told[0]!.data).to.include({ key_id: await idOf(partner.secret), kind: "secret" });
  });

  it("gets one key, however often and from wherever it asks", async () => {
    const page = await signedIn();
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => page.post("/keys/rotate", { days: 1 })),
    );
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([
      201, 409, 409, 409, 409, 409,
    ]);
    const refused = answers.find(({ status }) => status === 409)!;
    expect(refused.body.detail).to.include("has an end");
    expect(await listKeys(country.db, partner.id)).to.have.length(3);
    expect(await logged()).to.have.length(1);
  });

  it("is refused for a key that is new, has an end, is revoked or is another partner's", async () => {
    await age(partner.id, 23);
    const young = await (await signedIn()).post("/keys/rotate", { days: 1 });
    expect([young.status, young.body.detail]).to.deep.equal([
      409,
      "This key is less than a day old. Replace it tomorrow, or ask the operator.",
    ]);
    await age(partner.id, 25);
    const expires_at = new Date(Date.now() + 90 * dayMs);
    const ending = await addKey(country.db, partner.id, "secret", {
      expires_at,
      created_at: new Date(0),
    });
    const late = await (await signedIn(ending)).post("/keys/rotate", { days: 1 });
    expect([late.status, late.body.detail]).to.deep.equal([
      409,
      "This key has an end already. Ask the operator for a new key.",
    ]);
    expect((await findKey(country.db, await idOf(ending)))!.expires_at).to.deep.equal(expires_at);
    const id = await idOf(partner.secret);
    const { publishable } = partner;
    for (const [what, wrong] of [
      ["another's", { id, partnerId: country.partnerId }],
      ["publishable", { id: await idOf(publishable), partnerId: partner.id }],
    ] as const) {
      const done = await rotateKey(country.db, wrong, 1, Date.now());
      expect(isRefusal(done), what).to.equal(true);
    }
    await country.db("keys").where({ id }).update({ revoked_at: new Date() });
    const revoked = await rotateKey(country.db, { id, partnerId: partner.id }, 1, Date.now());
    expect(revoked).to.have.nested.property("about.state", "revoked");
    expect(await logged()).to.deep.equal([]);
  });

  it("takes whole days from 1 to 30, and no call from another page", async () => {
    const page = await signedIn();
    for (const body of [
      {},
      { days: 0 },
      { days: 31 },
      { days: 1.5 },
      { days: "7" },
      { days: 7, key: 1 },
    ])
      expect((await page.post("/keys/rotate", body)).status).to.equal(422);
    const foreign = { Origin: "https://evil.example" };
    expect((await page.call("POST", "/keys/rotate", { days: 7 }, foreign)).status).to.equal(403);
    const stranger = createPageClient(web.baseUrl, "dashboard");
    expect((await stranger.post("/keys/rotate", { days: 7 })).status).to.equal(401);
    expect(await logged()).to.deep.equal([]);
    expect((await page.post("/keys/rotate", { days: 30 })).status).to.equal(201);
  });

  describe("by the API (decisions 8.37)", () => {
    const request_id = "5f0c8a0e-4a5f-4a52-9a68-3d2a4f0c7b11";
    const api = (key = partner.secret, nth = 0) => createClient(webs[nth]!.baseUrl, key);

    it("gets a new one, and the same answer again from any process until it is used", async () => {
      const asked = Array.from({ length: 4 }, (_, n) =>
        api(partner.secret, n % 2).post("/keys/rotate", { days: 3, request_id }),
      );
      const answers = await Promise.all(asked);
      const [first] = answers;
      for (const { status, body } of answers)
        expect([status, body]).to.deep.equal([201, first!.body]);
      expect(first!.headers.get("cache-control")).to.equal("no-store");
      const { key, prefix, old_key_ends: ends } = first!.body;
      expect([key.startsWith(prefix), first!.body.request_id]).to.deep.equal([true, request_id]);
      expect(Date.parse(`${ends}Z`) - Date.now()).to.be.within(3 * dayMs - 60_000, 3 * dayMs);
      expect(await logged()).to.have.length(1);
      expect(await works(partner.secret)).to.deep.equal([200, 200]);

      // Another text is another wish, and the key has an end now.
      const other = await api().post("/keys/rotate", { request_id: `${request_id}2` });
      expect([other.status, other.body.type.split("/").at(-1)]).to.deep.equal([
        409,
        "key-not-replaceable",
      ]);
      expect(await works(key)).to.deep.equal([200, 200]);
      await rows(country.db, "update keys set last_used_at = server_now() where prefix = ?", [
        prefix,
      ]);
      expect((await api().post("/keys/rotate", { days: 3, request_id })).status).to.equal(409);
    });

    it("does not give the answer again after an hour, or when the new key is revoked", async () => {
      const { body } = await api().post("/keys/rotate", { request_id });
      const madeAt = (sql: string) =>
        rows(country.db, `update keys set created_at = ${sql} where prefix = ?`, [body.prefix]);
      await madeAt("server_now() - interval '61 minutes'");
      expect((await api().post("/keys/rotate", { request_id })).status).to.equal(409);
      await madeAt("server_now()");
      expect((await api().post("/keys/rotate", { request_id })).body.key).to.equal(body.key);
      await rows(country.db, "update keys set revoked_at = server_now() where prefix = ?", [
        body.prefix,
      ]);
      expect((await api().post("/keys/rotate", { request_id })).status).to.equal(409);
    });

    it("says what is wrong, and changes nothing", async () => {
      for (const wrong of [{}, { request_id: "short" }, { request_id, days: 31 }])
        expect((await api().post("/keys/rotate", wrong)).status).to.equal(422);
      expect((await api(partner.publishable).post("/keys/rotate", { request_id })).status).to.equal(
        403,
      );
      await age(partner.id, 23);
      const young = await api().post("/keys/rotate", { request_id });
      expect([young.status, young.body.detail]).to.deep.equal([
        409,
        "This key is less than a day old.",
      ]);
      expect(await logged()).to.deep.equal([]);
    });
  });
});
