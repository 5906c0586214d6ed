import { expect } from "chai";
import { refusals, type ProblemCode } from "#src/contract/refusals.ts";
import { enableTotp } from "#src/operators/accounts.ts";
import { addKey, addPartner, bearer, type Edge, startEdge } from "#test/api/edge.ts";
import { type Gate, openGate } from "#test/api/gate.ts";
import { writeStations } from "#test/api/reads-country.ts";
import { type Answer, type Client, createClient, until } from "#test/flow/client.ts";
import { type ConsoleClient, createConsoleClient, signIn } from "#test/flow/console-client.ts";
import { newBrowser } from "#test/flow/push-services.ts";
import { addOperator, testPassword } from "#test/flow/operators.ts";
import { startWorker } from "#test/harness/roles.ts";
import { useInstance } from "#test/harness/use.ts";
import { useEdgeOn } from "#test/api/edge.ts";

const codes = Object.keys(refusals) as ProblemCode[];
const places = Array.from({ length: 40 }, (_, n) => ({ id: `n${n}`, lat: 50 + n, lon: 30 }));
/**
 * A user marks at most one station an hour here, and waits for one thing; a partner has at most two new users a day, and one webhook; a key one
 * stream.
 */
const tight = {
  ...{ HOURLY_CAP: "1", NEW_REPORTERS_DAILY: "2" },
  ...{ WEBHOOK_ENDPOINTS: "1", STREAMS_PER_KEY: "1", ALERTS_PER_DEVICE: "1" },
};

describe("every problem of the API", function () {
  const instance = useInstance({ LOG_LEVEL: "silent", ...tight });
  before(() => writeStations(instance.db, places));
  const edge = useEdgeOn(instance);
  let gate: Gate;
  let apart: Edge;
  let stopMarks: () => Promise<void>;
  let next = 0;

  before(async () => {
    gate = await openGate(instance.databaseUrl);
    [apart, stopMarks] = await Promise.all([
      startEdge({ ...instance.config, databaseUrl: gate.url }),
      startWorker("marks", instance.config),
    ]);
  });
  after(async () => {
    await stopMarks();
    await apart.stop();
  });

  const client = (key: string, at = edge): Client => createClient(at.origin, key);
  /** A partner of its own with a key, so that no case uses up another's limits. */
  const partner = async (settings: object = {}, key: object = {}, at = edge): Promise<Client> =>
    client(await addKey(instance.db, await addPartner(instance.db, settings), "secret", key), at);
  const page = async (key: object = {}): Promise<Client> =>
    client(await addKey(instance.db, await addPartner(instance.db), "publishable", key));
  /** A station that nobody has marked. */
  const place = () => places[(next += 1)]!;
  const get = async (path: string): Promise<Answer> => (await partner()).get(path);
  const mark = async (body: object, headers: Record<string, string> = {}): Promise<Answer> =>
    (await partner()).post(`/stations/${place().id}/report`, body, headers);
  const twice = async (once: () => Promise<Answer>): Promise<Answer> => {
    await once();
    return once();
  };

  const hook = { url: "https://1.1.1.1/", events: ["key.expiring"] };
  /** The one webhook that a partner may have. */
  const webhook = async () => {
    const one = await partner();
    const { body } = await one.post("/webhooks", hook);
    return { one, path: `/webhooks/${body.id}` };
  };
  const operator = async (role: "viewer" | "operator"): Promise<ConsoleClient> => {
    const { name } = await addOperator(instance.db, `account ${(next += 1)}`, role);
    return signIn(edge.origin, name);
  };
  const revokeOne = async (by: ConsoleClient): Promise<Answer> => {
    const [key] = await instance.db("keys").select<{ id: number }[]>("id").orderBy("id").limit(1);
    return by.call("POST", `/keys/${key?.id}/revoke`);
  };
  /** Calls of the service's own pages, which have no limits of partners. */
  const ofPages: Partial<Record<ProblemCode, () => Promise<Answer>>> = {
    "sign-in-failed": () =>
      createConsoleClient(edge.origin).call("POST", "/session", { name: "nobody", password: "x" }),
    "sign-in-code-required": async () => {
      const { name } = await addOperator(instance.db, `account ${(next += 1)}`, "viewer");
      await enableTotp(instance.db, "root", name, instance.config.reporterPepper);
      const credentials = { name, password: testPassword };
      return createConsoleClient(edge.origin).call("POST", "/session", credentials);
    },
    "session-over": () => createConsoleClient(edge.origin).call("GET", "/session"),
    "cross-site-request": async () =>
      (await operator("operator")).call("POST", "/keys/1/revoke", undefined, {
        "Sec-Fetch-Site": "cross-site",
        Origin: "https://evil.example",
      }),
    "operator-role-required": async () => revokeOne(await operator("viewer")),
    "already-done": async () => {
      const by = await operator("operator");
      return twice(() => revokeOne(by));
    },
    "alert-limit": async () => {
      const { device, subscription } = newBrowser({ origin: "https://1.1.1.1" });
      const asked = (grade: string) =>
        fetch(`${edge.origin}/alerts/ask`, {
          method: "POST",
          headers: { Origin: edge.origin, "Content-Type": "application/json" },
          body: JSON.stringify({
            ...{ device, subscription, grade, lat: 55, lon: 37, radius_km: 5, lang: "ru" },
          }),
        });
      await asked("92");
      const answer = await asked("95");
      const { status, headers } = answer;
      return { status, headers, body: (await answer.json()) as unknown };
    },
    "import-running": async () => {
      const by = await operator("operator");
      const headers = { "Content-Type": "application/octet-stream" };
      const path = "/imports?kind=stations&file=a.json&dry_run=true";
      const refused = await twice(() => by.call("POST", path, { elements: [] }, headers));
      await until(
        async () => (await by.call("GET", "/imports")).body.imports as { state: string }[],
        (imports) => imports.every(({ state }) => state !== "running"),
      );
      return refused;
    },
  };
  const ofPartners: Partial<Record<ProblemCode, () => Promise<Answer>>> = {
    "invalid-key": () => client("svc_live_nobody").get("/cities"),
    "domain-not-allowed": async () =>
      (await page({ domains: ["a.example"] })).get("/cities", { Origin: "https://b.example" }),
    "ip-not-allowed": async () =>
      (await partner({ bind_ips: true }, { ips: ["203.0.113.1"] })).get("/cities"),
    "secret-key-required": async () => (await page()).get("/usage"),
    "partner-disabled": async () => (await partner({ enabled: false })).get("/cities"),
    "reports-disabled": async () =>
      (await partner({}, { reports: false })).mark(place(), "a", { status: "yes" }),
    "not-found": () => get("/nowhere"),
    "station-not-found": () => get("/stations/n404"),
    "city-not-found": () => get("/stations?city=Nowhere"),
    "report-not-found": () => get("/reports/404"),
    "method-not-allowed": async () => (await partner()).post("/cities", {}),
    "limit-request-pending": async () => {
      const asking = await partner();
      return twice(() => asking.post("/limit-requests", { requested_rpm: 1, requested_daily: 1 }));
    },
    "key-not-replaceable": async () =>
      (await partner()).post("/keys/rotate", { request_id: "a key of today is too new" }),
    "webhook-not-found": () => get("/webhooks/404"),
    "delivery-not-found": async () => {
      const { one, path } = await webhook();
      return one.post(`${path}/deliveries/404/redeliver`, {});
    },
    "webhook-limit": async () => {
      const { one } = await webhook();
      return one.post("/webhooks", hook);
    },
    "webhook-off": async () => {
      const { one, path } = await webhook();
      await one.patch(path, { enabled: false });
      return one.post(`${path}/test`, {});
    },
    "own-mark": async () => {
      const [viewer, { id }] = [await page(), place()];
      await viewer.post(`/widget/stations/${id}/report`, { device: "own-device", status: "yes" });
      const again = { device: "own-device", status: "yes" };
      return viewer.post(`/widget/stations/${id}/confirm`, again);
    },
    "nothing-pending": async () => {
      const seen = { device: "other-device", status: "yes" };
      return (await page()).post(`/widget/stations/${place().id}/confirm`, seen);
    },
    "nothing-to-take-back": async () =>
      (await page()).post(`/widget/stations/${place().id}/take-back`, { device: "no-device" }),
    "body-too-large": () => mark({ status: "yes", user_ref: "a", text: "x".repeat(100_000) }),
    "unsupported-media-type": () =>
      mark({ status: "yes", user_ref: "a" }, { "Content-Type": "text/plain" }),
    "validation-failed": () => mark({ user_ref: "a" }),
    "bad-bbox": () => get("/stations?bbox=1,2,3"),
    "bad-timestamp": () => get("/stations/delta?updated_since=2026-11-21"),
    "bad-grade": () => mark({ status: "yes", user_ref: "a", fuels: ["76"] }),
    "bad-cursor": () => get("/stations/all?cursor=nonsense"),
    "missing-area": () => get("/stations"),
    "window-too-old": () => get("/stations/delta?updated_since=2020-01-01T00:00:00Z"),
    "too-far": async () => {
      const body = { status: "yes", user_ref: "a" };
      return (await partner({ accept_remote: false })).post(`/stations/${place().id}/report`, body);
    },
    "rate-limit-exceeded": async () => {
      const one = await partner({ rpm: 1 });
      // A third in case the minute ended between the first two.
      await one.get("/cities");
      return twice(() => one.get("/cities"));
    },
    "daily-quota-exceeded": async () => {
      const one = await partner({ daily: 1 });
      return twice(() => one.get("/cities"));
    },
    "station-cooldown": async () => {
      const [one, here] = [await partner(), place()];
      await one.mark(here, "a", { status: "yes" });
      return one.mark(here, "a", { status: "low" });
    },
    "user-rate-limited": async () => {
      const one = await partner();
      return twice(() => one.mark(place(), "a", { status: "yes" }));
    },
    "new-users-limit": async () => {
      const one = await partner();
      for (const user of ["a", "b"]) await one.mark(place(), user, { status: "yes" });
      return one.mark(place(), "c", { status: "yes" });
    },
    "too-many-streams": async () => {
      const key = await addKey(instance.db, await addPartner(instance.db));
      const stream = await fetch(`${edge.url}/stations/stream`, { headers: bearer(key) });
      try {
        return await client(key).get("/stations/stream");
      } finally {
        await stream.body?.cancel();
      }
    },
    "internal-error": async () => {
      const one = await partner();
      await instance.db.raw("alter table limit_requests rename to limit_requests_away");
      try {
        return await one.get("/limit-requests");
      } finally {
        await instance.db.raw("alter table limit_requests_away rename to limit_requests");
      }
    },
    "upstream-unavailable": async () => {
      const one = await partner({}, {}, apart);
      await one.get("/cities");
      await gate.shut();
      return one.get("/limit-requests");
    },
  };

  it("is provoked here", () => {
    expect([...Object.keys(ofPartners), ...Object.keys(ofPages)]).to.have.members(codes);
  });

  for (const [code, ask] of Object.entries({ ...ofPartners, ...ofPages })) {
    it(`${code}: comes with all that belongs to it`, async () => {
      const { status, headers, body } = await ask();
      const { status: expected, title } = refusals[code as ProblemCode];
      expect(status, JSON.stringify(body)).to.equal(expected);
      expect(headers.get("content-type")).to.equal("application/problem+json");
      expect(body).to.include({ status: expected, title });
      expect(body.type).to.equal(`${instance.config.problemBase}/${code}`);
      expect(body.request_id).to.equal(headers.get("x-request-id"));
      expect(body.detail).to.have.length.above(0);
      if ([429, 503].includes(expected)) expect(headers.get("retry-after")).to.match(/^[1-9]\d*$/);
      if (expected === 429) expect(body).to.include.keys("limit", "window");
      if (code in ofPages) return;
      for (const name of ["limit", "remaining", "reset", "daily-limit", "daily-remaining"])
        expect(headers.get(`x-ratelimit-${name}`), name).to.match(/^\d+$/);
    });
  }

  it("has a page that says what to do", async () => {
    for (const code of codes) {
      const answer = await fetch(`${edge.origin}/problems/${code}`);
      expect(answer.status, code).to.equal(200);
      expect(answer.headers.get("content-type")).to.equal("text/html; charset=utf-8");
      const text = await answer.text();
      expect(text).to.include(`/problems/${code}</code>`);
      expect(text, code).to.match(/What to do<\/dt>\s*<dd lang="en">[^<]{20,}/);
    }
    const all = await fetch(`${edge.origin}/problems`);
    expect(await all.text()).to.include("bad-bbox");
    expect((await fetch(`${edge.origin}/problems/made-up`)).status).to.equal(404);
  });
});
