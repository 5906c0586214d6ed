import { expect } from "chai";
import fc from "fast-check";
import { rows } from "#src/infrastructure/db.ts";
import { addKey } from "#test/api/edge.ts";
import { type Answer, createClient, until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { addPartner, type OtherPartner } from "#test/flow/more-partners.ts";
import { createPageClient, type PageClient } from "#test/flow/page-client.ts";
import { runOperator } from "#test/harness/operator.ts";
import { startRole } from "#test/harness/roles.ts";
import { useStage } from "#test/flow/stage.ts";

const reads = [
  "/session",
  "/overview",
  "/marks",
  "/keys",
  "/limit-requests",
  "/usage.csv",
  "/errors",
  "/recent",
  "/hours",
  "/errors.csv",
];
const wish = { requested_rpm: 2000, requested_daily: 90_000, comment: "Second city" };

describe("flow: dashboard", function () {
  // No refresh of the key stores while the tests run: what must be in force at once is.
  const { instance, country, webs } = useStage(5, ["marks", "web", "web"], {
    KEYS_REFRESH_MS: "15000",
    SIGN_INS_PER_MINUTE: "1000",
    PAGE_CALLS_PER_MINUTE: "100000",
  });

  const page = (at = 0): PageClient => createPageClient(webs[at]!.baseUrl, "dashboard");
  /** The same browser, led to another process. */
  const elsewhere = (client: PageClient): PageClient => {
    const other = page(1);
    other.cookie = client.cookie;
    return other;
  };
  const signedIn = async (key: string): Promise<PageClient> => {
    const client = page();
    const { status } = await client.post("/session", { key });
    expect(status).to.equal(201);
    return client;
  };
  const codeOf = ({ body }: Answer): string => String(body.type).split("/").at(-1)!;
  const operator = (...args: string[]) => runOperator(instance.env, ...args, "--json");

  describe("signing in", () => {
    it("exchanges a secret key for a cookie that no script can read, and stores neither", async () => {
      const client = page();
      const answer = await client.post("/session", { key: ` ${country.secret}\n` });
      expect(answer.status).to.equal(201);
      expect(answer.headers.get("cache-control")).to.equal("no-store");
      expect(answer.body.partner).to.equal("Test partner");
      expect(answer.body.base_url).to.equal(webs[0]!.baseUrl);
      expect(JSON.stringify(answer.body)).not.to.include(country.secret);
      const hours = (answer.body.expires - Date.now()) / 3600_000;
      expect(hours).to.be.within(11.9, 12);
      expect(client.setCookie).to.match(
        /^dashboard-session=[\w-]{43}; path=\/dashboard\/; expires=[^;]+; samesite=strict; httponly$/,
      );
      const token = client.cookie.split("=")[1]!;
      const stored = JSON.stringify(await rows(country.db, "select * from sessions"));
      expect(stored).not.to.include(token);
      expect(stored).not.to.include(country.secret);
      expect((await elsewhere(client).get("/session")).body).to.include({
        partner: "Test partner",
      });
    });

    it("over https gives a cookie that other hosts of the domain cannot set", async () => {
      const web = await startRole("web", { ...instance.env, BASE_URL: "https://fuel.example" });
      try {
        const client = createPageClient(web.baseUrl, "dashboard");
        const headers = { Origin: "https://fuel.example" };
        const answer = await client.call("POST", "/session", { key: country.secret }, headers);
        expect(answer.status).to.equal(201);
        expect(client.setCookie).to.match(
          /^__Host-dashboard-session=[\w-]{43}; path=\/; expires=[^;]+; samesite=strict; secure; httponly$/,
        );
        expect((await client.get("/session")).status).to.equal(200);
      } finally {
        await web.stop();
      }
    });

    it("says in words why a key does not open it", async () => {
      const other = await addPartner(country);
      const off = await addPartner(country);
      await country.db("partners").where({ id: off.id }).update({ enabled: false });
      const bound = await addKey(country.db, other.id, "secret", { ips: ["192.0.2.0/24"] });
      const expired = await addKey(country.db, other.id, "secret", { expires_at: new Date(1) });
      const cases: [key: string, status: number, code: string, words: RegExp][] = [
        ["svc_live_wrong", 401, "invalid-key", /copied whole/],
        [`${country.secret.slice(0, -1)}!`, 401, "invalid-key", /copied whole/],
        [expired, 401, "invalid-key", /not in force/],
        [other.publishable, 403, "secret-key-required", /svc_live_/],
        [off.secret, 403, "partner-disabled", /operator/],
        [bound, 403, "ip-not-allowed", /127\.0\.0\.1/],
      ];
      for (const [key, status, code, words] of cases) {
        const client = page();
        const answer = await client.post("/session", { key });
        expect([answer.status, codeOf(answer)], key).to.deep.equal([status, code]);
        expect(answer.body.detail).to.match(words);
        expect(answer.body.request_id).to.be.a("string");
        expect(client.setCookie).to.equal("");
      }
      for (const body of [{}, { key: "" }, { key: 5 }, { key: "x".repeat(201) }])
        expect((await page().post("/session", body)).status).to.equal(422);
    });

    it("takes only so many attempts of one network in a minute", async () => {
      const web = await startRole("web", { ...instance.env, SIGN_INS_PER_MINUTE: "3" });
      try {
        const client = createPageClient(web.baseUrl, "dashboard");
        const seen: Answer[] = [];
        // Two minutes' worth, should the minute change meanwhile.
        for (let i = 0; i < 8; i += 1)
          seen.push(await client.post("/session", { key: "svc_live_wrong" }));
        const refused = seen.filter(({ status }) => status === 429);
        expect(refused).not.to.be.empty;
        expect(codeOf(refused[0]!)).to.equal("rate-limit-exceeded");
        expect(Number(refused[0]!.headers.get("retry-after"))).to.be.within(1, 60);
      } finally {
        await web.stop();
      }
    });

    it("and all calls are refused to a network that calls without end", async () => {
      const web = await startRole("web", { ...instance.env, PAGE_CALLS_PER_MINUTE: "5" });
      try {
        const client = createPageClient(web.baseUrl, "dashboard");
        const statuses: number[] = [];
        for (let i = 0; i < 12; i += 1) statuses.push((await client.get("/overview")).status);
        expect(new Set(statuses)).to.deep.equal(new Set([401, 429]));
      } finally {
        await web.stop();
      }
    });
  });

  describe("the session", () => {
    it("is asked for by every call", async () => {
      for (const cookie of ["", "dashboard-session=", `dashboard-session=${"A".repeat(43)}`]) {
        for (const path of reads) {
          const client = page();
          client.cookie = cookie;
          const answer = await client.get(path);
          expect([answer.status, codeOf(answer)], path).to.deep.equal([401, "session-over"]);
          expect(answer.headers.get("cache-control")).to.equal("no-store");
        }
        const client = page();
        client.cookie = cookie;
        expect((await client.post("/limit-requests", wish)).status).to.equal(401);
        expect((await client.call("DELETE", "/session")).status).to.equal(401);
      }
    });

    it("is not opened by the key itself, nor by a session of the console", async () => {
      const headers = { Authorization: `Bearer ${country.secret}` };
      expect((await page().call("GET", "/overview", undefined, headers)).status).to.equal(401);
      const client = await signedIn(country.secret);
      await rows(
        country.db,
        "update sessions set kind = 'operator' where id = (select max(id) from sessions)",
      );
      expect((await client.get("/overview")).status).to.equal(401);
    });

    it("ends with signing out, here and on every other process", async () => {
      const client = await signedIn(country.secret);
      const twin = elsewhere(client);
      expect((await client.call("DELETE", "/session")).status).to.equal(204);
      expect(client.cookie).to.equal("");
      expect((await twin.get("/overview")).status).to.equal(401);
    });

    it("ends on every process as soon as its key is revoked, and does not come back", async () => {
      const { secret } = await addPartner(country);
      const client = await signedIn(secret);
      const twin = elsewhere(client);
      const { key } = (await client.get("/session")).body;
      expect((await operator("key", "revoke", String(key.id))).code).to.equal(0);
      expect((await client.get("/overview")).status).to.equal(401);
      expect((await twin.get("/overview")).status).to.equal(401);
      await rows(country.db, "update keys set revoked_at = null where id = ?", [key.id]);
      expect((await twin.get("/overview")).status).to.equal(401);
    });

    it("ends when the key expires, and when the partner is switched off", async () => {
      for (const sql of [
        "update keys set expires_at = server_now() - interval '1 s' where partner_id = ?",
        "update partners set enabled = false where id = ?",
      ]) {
        const { id, secret } = await addPartner(country);
        const client = await signedIn(secret);
        expect((await client.get("/overview")).status).to.equal(200);
        await rows(country.db, sql, [id]);
        expect((await client.get("/overview")).status).to.equal(401);
      }
    });

    it("is refused, and not ended, at an address that its key is not bound to", async () => {
      const { id } = await addPartner(country);
      const secret = await addKey(country.db, id, "secret", { ips: ["127.0.0.1"] });
      const client = await signedIn(secret);
      const held = client.cookie;
      await rows(
        country.db,
        "update keys set ips = '{192.0.2.1}' where partner_id = ? and ips <> '{}'",
        [id],
      );
      expect((await client.get("/overview")).status).to.equal(401);
      await rows(
        country.db,
        "update keys set ips = '{127.0.0.1}' where partner_id = ? and ips <> '{}'",
        [id],
      );
      client.cookie = held;
      expect((await client.get("/overview")).status).to.equal(200);
    });

    it("is over after 12 hours", async () => {
      const client = await signedIn(country.secret);
      for (const [hours, status] of [
        [11.9, 200],
        [12, 401],
      ] as const) {
        const offset = { CLOCK_OFFSET_S: String(hours * 3600) };
        const web = await startRole("web", { ...instance.env, ...offset });
        try {
          const later = createPageClient(web.baseUrl, "dashboard");
          later.cookie = client.cookie;
          expect((await later.get("/overview")).status).to.equal(status);
        } finally {
          await web.stop();
        }
      }
    });
  });

  describe("calls that change something", () => {
    const foreign: [what: string, headers: Record<string, string>, code: string][] = [
      ["another site", { Origin: "https://evil.example" }, "cross-site-request"],
      ["a lookalike", { Origin: "http://127.0.0.1.evil.example" }, "cross-site-request"],
      ["a sandboxed page", { Origin: "null" }, "cross-site-request"],
      ["no page at all", { Origin: "" }, "cross-site-request"],
      ["a sister site", { "Sec-Fetch-Site": "same-site" }, "cross-site-request"],
      [
        "a site that the browser calls foreign",
        { "Sec-Fetch-Site": "cross-site" },
        "cross-site-request",
      ],
      ["a form", { "Content-Type": "text/plain" }, "unsupported-media-type"],
      [
        "another form",
        { "Content-Type": "application/x-www-form-urlencoded" },
        "unsupported-media-type",
      ],
    ];
    for (const [what, headers, code] of foreign) {
      it(`are refused when they come from ${what}`, async () => {
        const { id, secret } = await addPartner(country);
        const client = await signedIn(secret);
        const asked = await client.call("POST", "/limit-requests", wish, headers);
        expect(codeOf(asked)).to.equal(code);
        expect(asked.status).to.be.oneOf([403, 415]);
        const left = await client.call("DELETE", "/session", undefined, headers);
        expect(codeOf(left)).to.equal(code);
        const entered = await page().call("POST", "/session", { key: secret }, headers);
        expect(codeOf(entered)).to.equal(code);
        expect((await client.get("/limit-requests")).body).to.deep.equal({ requests: [] });
        const sql = "select id from limit_requests where partner_id = ?";
        expect(await rows(country.db, sql, [id])).to.deep.equal([]);
      });
    }

    it("are refused for paths and methods that do not exist", async () => {
      const client = await signedIn(country.secret);
      expect((await client.get("/nothing")).status).to.equal(404);
      const answer = await client.call("DELETE", "/overview");
      expect([answer.status, answer.headers.get("allow")]).to.deep.equal([405, "GET, HEAD"]);
      expect((await client.get("/overview?days=91")).status).to.equal(422);
      expect((await client.get("/overview?days=x")).status).to.equal(422);
    });
  });

  it("shows the requests of a moment ago, by method, and counts none of its own", async () => {
    const { secret, publishable } = await addPartner(country, { rpm: 600, daily: 5000 });
    const client = await signedIn(secret);
    const api = createClient(webs[1]!.baseUrl, secret);
    const first = await api.get("/stations?bbox=54,36,56,38");
    await api.get("/stations?bbox=54,36,56,38", { "If-None-Match": first.headers.get("etag")! });
    await api.get("/stations");
    await api.get("/cities");
    await createClient(webs[0]!.baseUrl, publishable).get("/cities");
    const { body } = await until(
      () => client.get("/overview?days=3"),
      (answer) => answer.body.days[0].errors === 1 && answer.body.days[0].not_modified === 1,
    );
    expect(body.days).to.have.length(3);
    expect(body.days[0]).to.deep.include({
      requests: 4,
      methods: { "GET /cities": 1, "GET /stations": 3 },
    });
    expect(body.widget[0].requests).to.equal(1);
    expect(body.today).to.deep.include({ requests: 4, limit: 5000, remaining: 4996 });
    expect(body.minute.limit).to.equal(600);
    expect(body.minute.remaining).to.be.within(596, 600);
    expect(body.minutes.peak).to.be.within(1, 4);
    const again = (await client.get("/overview?days=3")).body;
    expect(again.days[0].requests).to.equal(4);
  });

  it("tells of open incidents, and of none that is over", async () => {
    const { secret } = await addPartner(country);
    const client = await signedIn(secret);
    const told = async () => (await client.get("/overview")).body.incidents;
    expect(await told()).to.deep.equal([]);
    const words = ["--title", "Late dumps", "--text", "We look into it."];
    const { json } = await operator("incident", "open", ...words, "--title-ru", "Задержка");
    await operator("incident", "update", String(json.id), "--text", "Found.");
    const [shown] = await until(told, (found) => found[0]?.text.en === "Found.");
    expect(shown).to.deep.include({ title: { en: "Late dumps", ru: "Задержка" } });
    await operator("incident", "close", String(json.id), "--text", "Mended.");
    await until(told, (found) => found.length === 0);
  });

  it("counts what became of the marks of servers and pages", async () => {
    const { id, secret } = await addPartner(country);
    const client = await signedIn(secret);
    const api = createClient(webs[0]!.baseUrl, secret);
    await api.mark(placeOf(0), "first", { status: "yes" });
    await api.mark(placeOf(1), "first", { status: "queue" });
    await api.mark({ ...placeOf(2), lat: 10 }, "second", { status: "low" });
    const { body } = await until(
      () => client.get("/marks"),
      (answer) => answer.body.days[0].partner.queued === undefined,
    );
    expect(body.days).to.have.length(7);
    expect(body.days[0]).to.deep.include({ partner: { published: 2, pending: 1 }, widget: {} });
    await rows(
      country.db,
      "update marks set review = 'withdrawn' where partner_id = ? and status = 'yes'",
      [id],
    );
    const later = await until(
      () => client.get("/marks"),
      (answer) => answer.body.days[0].partner.withdrawn !== undefined,
    );
    expect(later.body.days[0].partner).to.deep.equal({ published: 1, pending: 1, withdrawn: 1 });
  });

  it("tells by what marks are held, decisions 12.13", async () => {
    const { id, secret } = await addPartner(country);
    const client = await signedIn(secret);
    const api = createClient(webs[0]!.baseUrl, secret);
    for (const n of [0, 1, 2]) await api.mark(placeOf(n), `user ${n}`, { status: "yes" });
    const reasons = [null, "city", "city"];
    for (const [n, reason] of reasons.entries())
      await rows(
        country.db,
        "update marks set review = 'held', held_reason = ? where partner_id = ? and station_id = ?",
        [reason, id, placeOf(n).id],
      );
    const { body } = await client.get("/marks");
    expect(body.days[0]).to.deep.include({
      partner: { held: 3 },
      held: { "mass-no": 1, city: 2 },
    });
    expect(body.days[1].held).to.deep.equal({});
  });

  it("files a limit request, and shows decision and new limits when they are made", async () => {
    const { secret } = await addPartner(country, { rpm: 600, daily: 5000 });
    const client = await signedIn(secret);
    const asked = await client.post("/limit-requests", wish);
    expect(asked.status).to.equal(201);
    expect(asked.body).to.deep.include({ ...wish, status: "pending", decided: null });
    const second = await client.post("/limit-requests", wish);
    expect([second.status, codeOf(second)]).to.deep.equal([409, "limit-request-pending"]);
    expect((await client.post("/limit-requests", { ...wish, requested_rpm: 0 })).status).to.equal(
      422,
    );
    const withdraw = (id: number) => client.call("DELETE", `/limit-requests/${id}`);
    expect((await withdraw(asked.body.id)).body).to.include({ status: "withdrawn" });
    const late = await withdraw(asked.body.id);
    expect([late.status, codeOf(late)]).to.deep.equal([409, "already-done"]);
    expect((await withdraw(999_999)).status).to.equal(404);
    const { id } = (await client.post("/limit-requests", wish)).body;
    await operator("limit-request", "approve", String(id), "--rpm", "1500", "--comment", "Welcome");
    const { requests } = (await client.get("/limit-requests")).body;
    expect(requests).to.have.length(2);
    expect(requests[0]).to.deep.include({ status: "approved", decision_comment: "Welcome" });
    expect(requests[0]).to.deep.include({ requested_rpm: 2000, granted_rpm: 1500 });
    expect(requests[0]).to.deep.include({ requested_daily: 90_000, granted_daily: 90_000 });
    const { minute, today } = (await elsewhere(client).get("/overview")).body;
    expect([minute.limit, today.limit]).to.deep.equal([1500, 90_000]);
  });

  it("lists every key of the partner, and no key's text", async () => {
    const { id, secret, publishable } = await addPartner(country);
    const old = await addKey(country.db, id, "secret", { label: "old", revoked_at: new Date() });
    await addKey(country.db, id, "publishable", {
      domains: ["shop.example"],
      expires_at: new Date(1),
    });
    const client = await signedIn(secret);
    const answer = await client.get("/keys");
    const { keys } = answer.body as { keys: Record<string, unknown>[] };
    expect(keys.map(({ kind, state, current }) => [kind, state, current])).to.deep.equal([
      ["secret", "in force", true],
      ["publishable", "in force", false],
      ["secret", "revoked", false],
      ["publishable", "expired", false],
    ]);
    expect(keys[3]!["domains"]).to.deep.equal(["shop.example"]);
    for (const text of [secret, publishable, old])
      expect(JSON.stringify(answer.body)).not.to.include(text);
  });

  it("gives usage as a spreadsheet in which no cell is a formula", async () => {
    const { id, secret } = await addPartner(country);
    const sql = "insert into usage_days select ?, current_date - ?::int, ?, ?, 7, 3, 1";
    await rows(country.db, sql, [id, 2, "partner", "GET /cities"]);
    await rows(country.db, sql, [id, 1, "partner", '=HYPERLINK("http://evil.example","x")']);
    await rows(country.db, sql, [id, 9, "partner", "GET /old"]);
    const client = await signedIn(secret);
    const answer = await client.get("/usage.csv?days=5");
    expect(answer.headers.get("content-type")).to.equal("text/csv; charset=utf-8");
    expect(answer.headers.get("content-disposition")).to.match(
      /^attachment; filename="usage-.*\.csv"$/,
    );
    const day = (back: number) =>
      new Date(Date.now() - back * 86_400_000).toISOString().slice(0, 10);
    expect(String(answer.body).trimEnd().split("\n")).to.deep.equal([
      "date,audience,method,requests,not_modified,errors",
      `${day(1)},partner,"'=HYPERLINK(""http://evil.example"",""x"")",7,3,1`,
      `${day(2)},partner,GET /cities,7,3,1`,
    ]);
  });

  it("never shows one partner anything of another, whatever both do", async () => {
    type Deed = [who: 0 | 1, what: "read" | "mark" | "ask" | "key" | "decide"];
    const who = fc.constantFrom<0 | 1>(0, 1);
    const what = fc.constantFrom<Deed[1]>("read", "mark", "ask", "key", "decide");
    const deeds = fc.array(fc.tuple(who, what), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(deeds, async (list) => {
        const both = [await addPartner(country), await addPartner(country)] as const;
        const clients = [await signedIn(both[0].secret), await signedIn(both[1].secret)] as const;
        const done = [tally(), tally()] as const;
        for (const [one, deed] of list) await act(both[one], clients[one], deed, done[one]);
        for (const one of [0, 1] as const) {
          const { requests, asked, keys, marks } = done[one];
          const sees = await until(
            () => all(clients[one]),
            (seen) => seen.overview.days[0].requests === requests + marks && sentOf(seen) === marks,
          );
          expect(sees.session.partner).to.equal("Another partner");
          expect(sees.limits.requests).to.have.length(asked);
          expect(sees.keys.keys.map(({ prefix }: { prefix: string }) => prefix)).to.have.length(
            2 + keys,
          );
          const said = JSON.stringify(sees);
          expect(said).not.to.include(`of ${both[1 - one]!.id}.`);
        }
      }),
      { numRuns: 12 },
    );
  });

  const tally = () => ({ requests: 0, asked: 0, keys: 0, marks: 0, pending: false });

  /** One deed of a partner; what it writes names the partner, so that a leak can be seen. */
  async function act(
    partner: OtherPartner,
    client: PageClient,
    deed: string,
    done: ReturnType<typeof tally>,
  ): Promise<void> {
    const api = createClient(webs[1]!.baseUrl, partner.secret);
    const words = `of ${partner.id}.`;
    if (deed === "read") {
      await api.get("/cities");
      done.requests += 1;
    } else if (deed === "mark") {
      await api.mark(placeOf(3), `${words}${done.marks}`, { status: "yes", text: words });
      done.marks += 1;
    } else if (deed === "ask") {
      const { status } = await client.post("/limit-requests", { ...wish, comment: words });
      expect(status).to.equal(done.pending ? 409 : 201);
      if (!done.pending) done.asked += 1;
      done.pending = true;
    } else if (deed === "key") {
      await addKey(country.db, partner.id, "publishable", {
        label: words,
        domains: [`d${words}example`],
      });
      done.keys += 1;
    } else {
      const sql =
        "update limit_requests set status = 'rejected', decided_at = server_now(), decision_comment = ? where partner_id = ? and status = 'pending'";
      await rows(country.db, sql, [words, partner.id]);
      done.pending = false;
    }
  }

  const sentOf = ({ marks }: Awaited<ReturnType<typeof all>>): number =>
    Object.values(marks.days[0].partner as Record<string, number>).reduce((sum, n) => sum + n, 0);

  async function all(client: PageClient) {
    const answers = await Promise.all(reads.map((path) => client.get(path)));
    expect(answers.map(({ status }) => status)).to.deep.equal(reads.map(() => 200));
    const [session, overview, marks, keys, limits, ...others] = answers.map(({ body }) => body);
    return { session, overview, marks, keys, limits, others };
  }
});
