import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { createRoutes } from "#api/http/routers.ts";
import type { Route } from "#api/http/route.ts";
import { createInsightStore } from "#snapshots/insights/insight-store.ts";
import { rows } from "#src/infrastructure/db.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { createWorkerRedis } from "#src/infrastructure/redis.ts";
import { newKey } from "#src/keys/key-text.ts";
import { addKey, addPartner, type Edge, startEdge } from "#test/api/edge.ts";
import { sized } from "#test/harness/long.ts";
import type { TestInstance } from "#test/harness/instance.ts";
import { placeOf } from "#test/flow/country.ts";
import { useStage } from "#test/flow/stage.ts";

/** What a caller that passes every check sends to a route, and what it gets. */
interface Sample {
  path: string;
  status: number;
  body?: () => object;
}

const own = "https://fuel.example";
const { id: stationId } = placeOf(0);
let users = 0;
const someone = (): string => `user ${(users += 1)}`;

/** What the snapshots role would have counted. */
async function storeInsights({ config }: TestInstance): Promise<void> {
  const redis = createWorkerRedis(config, createLog({ logLevel: "silent" }, "test"));
  const at = Date.now();
  const nothing = { cities: [], counts: {}, today: { at, cities: {}, lengthMs: 0 } };
  const version = { seq: 1, asOfMs: at, builtAtMs: at };
  await createInsightStore(redis, config.redisPrefix).save(version, nothing, []);
  redis.disconnect();
}

const forms = ["geojson", "ndjson", "csv"].flatMap((form): [string, Sample][] => [
  [`GET /stations.${form}`, { path: `/stations.${form}?ids=${stationId}`, status: 200 }],
  [`GET /stations/all.${form}`, { path: `/stations/all.${form}`, status: 200 }],
]);
/** Of no webhook. */
const webhooks = [
  ["GET", ""],
  ["PATCH", ""],
  ["DELETE", ""],
  ["POST", "/rotate-secret"],
  ["POST", "/test"],
  ["GET", "/deliveries"],
  ["POST", "/deliveries/{delivery_id}/redeliver"],
].map(([method, below]): [string, Sample] => [
  `${method} /webhooks/{webhook_id}${below}`,
  {
    path: `/webhooks/999999${below!.replace("{delivery_id}", "1")}`,
    status: 404,
    ...(method === "PATCH" ? { body: () => ({ enabled: true }) } : {}),
  },
]);
/** Every route of the API stands here: one that does not fails the first test. */
const samples: Record<string, Sample> = {
  ...Object.fromEntries(forms),
  ...Object.fromEntries(webhooks),
  "GET /webhooks": { path: "/webhooks", status: 200 },
  "POST /webhooks": {
    path: "/webhooks",
    status: 201,
    body: () => ({ url: "https://10.0.0.1/", events: ["key.expiring"] }),
  },
  "POST /stations/along": {
    path: "/stations/along",
    status: 200,
    body: () => ({ line: "_eunIgwy`Fg^?" }),
  },
  "GET /reports": { path: "/reports?ids=1", status: 200 },
  "GET /stations": {
    path: "/stations?city=%D0%A2%D0%B5%D1%81%D1%82%D0%BE%D0%B3%D1%80%D0%B0%D0%B4",
    status: 200,
  },
  "GET /stations/all": { path: "/stations/all", status: 200 },
  "GET /stations/delta": {
    path: `/stations/delta?updated_since=${new Date().toISOString()}`,
    status: 200,
  },
  "GET /stations/stream": { path: "/stations/stream", status: 200 },
  "GET /stations/{station_id}": { path: `/stations/${stationId}`, status: 200 },
  "GET /stations/{station_id}/history": { path: `/stations/${stationId}/history`, status: 200 },
  "GET /cities": { path: "/cities?limit=1", status: 200 },
  "GET /insights/cities": { path: "/insights/cities", status: 200 },
  "GET /usage": { path: "/usage?days=1", status: 200 },
  "GET /limit-requests": { path: "/limit-requests", status: 200 },
  "POST /limit-requests": {
    path: "/limit-requests",
    status: 409,
    body: () => ({ requested_rpm: 500, requested_daily: 100_000 }),
  },
  "POST /keys/rotate": {
    path: "/keys/rotate",
    status: 409,
    body: () => ({ request_id: "a key of today is too new" }),
  },
  "POST /stations/{station_id}/report": {
    path: `/stations/${stationId}/report`,
    status: 202,
    body: () => ({ user_ref: someone(), status: "yes" }),
  },
  "POST /reports": {
    path: "/reports",
    status: 202,
    body: () => ({ reports: [{ station_id: stationId, user_ref: someone(), status: "low" }] }),
  },
  "GET /reports/{report_id}": { path: "/reports/1", status: 404 },
  "DELETE /users/{user_ref}": { path: "/users/nobody", status: 200 },
  "GET /widget/config": { path: "/widget/config", status: 200 },
  "POST /widget/stations/{station_id}/report": {
    path: `/widget/stations/${stationId}/report`,
    status: 202,
    body: () => ({ device: someone(), status: "yes" }),
  },
  "POST /widget/stations/{station_id}/confirm": {
    path: `/widget/stations/${stationId}/confirm`,
    status: 409,
    body: () => ({ device: someone(), status: "no" }),
  },
  "POST /widget/stations/{station_id}/take-back": {
    path: `/widget/stations/${stationId}/take-back`,
    status: 409,
    body: () => ({ device: someone() }),
  },
  "POST /widget/forget": {
    path: "/widget/forget",
    status: 200,
    body: () => ({ device: "nobody's" }),
  },
};

/** Which of its own codes a sample that passes may be answered with. */
const ownCodes: Record<string, string> = {
  ...Object.fromEntries(webhooks.map(([name]) => [name, "webhook-not-found"])),
  "POST /limit-requests": "limit-request-pending",
  "POST /keys/rotate": "key-not-replaceable",
  "GET /reports/{report_id}": "report-not-found",
  "POST /widget/stations/{station_id}/confirm": "nothing-pending",
  "POST /widget/stations/{station_id}/take-back": "nothing-to-take-back",
};

type Verdict = "passes" | "passes if open" | "401 invalid-key" | `403 ${string}`;

interface Caller {
  who: string;
  headers: Record<string, string>;
  verdict: Verdict;
}

const nameOf = ({ method, path }: Route): string => `${method} ${path}`;

describe("flow: who may call what", function () {
  const { instance, country } = useStage(3, [], {
    LOG_LEVEL: "silent",
    TRUSTED_PROXIES: "127.0.0.1",
    BASE_URL: own,
    WEBHOOK_ENDPOINTS: "100",
    WEBHOOK_NETWORKS: "10.0.0.1",
  });
  let edge: Edge;
  let routes: Route[];
  let callers: Caller[];
  const passed = { secret: 0, publishable: 0 };

  before(async () => {
    await storeInsights(instance);
    const { db, partnerId } = country;
    const disabled = await addPartner(db, { enabled: false, rpm: 7 });
    const keys = {
      revoked: await addKey(db, partnerId, "secret", { revoked_at: new Date() }),
      revokedPage: await addKey(db, partnerId, "publishable", { revoked_at: new Date() }),
      expired: await addKey(db, partnerId, "secret", { expires_at: new Date(Date.now() - 1000) }),
      expiredPage: await addKey(db, partnerId, "publishable", {
        expires_at: new Date(Date.now() - 1000),
      }),
      page: await addKey(db, partnerId, "publishable", {
        domains: ["partner.com", "заправка.рф"],
        expires_at: new Date(Date.now() + 3600_000),
      }),
      bound: await addKey(db, partnerId, "secret", {
        ips: ["10.1.0.0/16", "2001:db8:5::/48", "192.0.2.7"],
      }),
      disabled: await addKey(db, disabled, "secret", { ips: ["10.1.0.0/16"] }),
      disabledPage: await addKey(db, disabled, "publishable", { domains: ["partner.com"] }),
    };
    edge = await startEdge(instance.config);
    routes = createRoutes(edge.web.services);
    const { page, bound } = keys;
    const bearer = (key: string, more: Record<string, string> = {}) => ({
      Authorization: `Bearer ${key}`,
      ...more,
    });
    const from = (ip: string) => bearer(bound, { "X-Forwarded-For": ip });
    const on = (Origin: string) => bearer(page, { Origin });
    const none = "401 invalid-key";
    const foreign = "403 domain-not-allowed";
    const outside = "403 ip-not-allowed";
    const off = "403 partner-disabled";
    const caller = (who: string, headers: Record<string, string>, verdict: Verdict): Caller => ({
      who,
      headers,
      verdict,
    });
    callers = [
      caller("no key", {}, none),
      caller("no key from an allowed page", { Origin: "https://partner.com" }, none),
      caller("another scheme", { Authorization: `Basic ${country.secret}` }, none),
      caller("a malformed key", bearer("svc_live_x"), none),
      caller("a key with a typing error", bearer(`${country.secret.slice(0, -1)}!`), none),
      caller("a wrong secret key", bearer(newKey("secret", randomBytes(32))), none),
      caller("a wrong publishable key", bearer(newKey("publishable", randomBytes(32))), none),
      caller("a revoked secret key", bearer(keys.revoked), none),
      caller("a revoked publishable key", bearer(keys.revokedPage), none),
      caller("an expired secret key", bearer(keys.expired), none),
      caller("an expired publishable key", bearer(keys.expiredPage), none),
      caller("publishable, own page", on(own), "passes if open"),
      caller("publishable, allowed domain", on("https://partner.com"), "passes if open"),
      caller("publishable, its port", on("http://partner.com:8080"), "passes if open"),
      caller("publishable, subdomain", on("https://a.b.PARTNER.com"), "passes if open"),
      caller(
        "publishable, Cyrillic domain",
        on(new URL("https://заправка.рф").origin),
        "passes if open",
      ),
      caller(
        "publishable, allowed referrer",
        bearer(page, { Referer: "https://www.partner.com/x?y" }),
        "passes if open",
      ),
      caller("publishable, no referrer", bearer(page), "passes if open"),
      caller("publishable, lookalike", on("https://partner.com.evil.com"), foreign),
      caller("publishable, other lookalike", on("https://evilpartner.com"), foreign),
      caller("publishable, user name lookalike", on("https://partner.com@evil.com"), foreign),
      caller("publishable, foreign domain", on("https://evil.com"), foreign),
      caller(
        "publishable, foreign referrer",
        bearer(page, { Referer: "https://evil.com/partner.com" }),
        foreign,
      ),
      caller("publishable, Origin null", on("null"), foreign),
      caller("secret, not bound", bearer(country.secret), "passes"),
      caller(
        "secret, not bound, from a foreign page",
        bearer(country.secret, { Origin: "https://evil.com" }),
        "passes",
      ),
      caller("secret, bound block", from("10.1.255.9"), "passes"),
      caller("secret, bound address, IPv4-mapped", from("::ffff:192.0.2.7"), "passes"),
      caller("secret, bound IPv6 block", from("2001:db8:5:1::9"), "passes"),
      caller("secret, unbound", from("10.2.0.1"), outside),
      caller("secret, unbound, IPv4-mapped", from("::ffff:192.0.2.8"), outside),
      caller("secret, unbound IPv6", from("2001:db8:6::9"), outside),
      caller(
        "disabled partner, secret",
        bearer(keys.disabled, { "X-Forwarded-For": "10.1.0.1" }),
        off,
      ),
      caller(
        "disabled partner, unbound",
        bearer(keys.disabled, { "X-Forwarded-For": "10.2.0.1" }),
        off,
      ),
      caller("disabled partner, publishable", bearer(keys.disabledPage), off),
      caller(
        "disabled partner, foreign page",
        bearer(keys.disabledPage, { Origin: "https://evil.com" }),
        off,
      ),
    ];
    // A pending request of its own, so that those of the matrix are answered 409.
    await db("limit_requests").insert({
      partner_id: partnerId,
      requested_rpm: 1,
      requested_daily: 1,
    });
  });
  after(async () => {
    await edge.stop();
  });

  interface Seen {
    status: number;
    code: string | null;
    authenticate: string | null;
    retryAfter: string | null;
    limits: (string | null)[];
  }

  const call = async (
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: object,
  ): Promise<Seen> => {
    const response = await fetch(edge.url + path, {
      method,
      headers: {
        ...headers,
        Prefer: "respond-async",
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const isStream = response.headers.get("content-type") === "text/event-stream";
    if (isStream) await response.body?.cancel();
    const text = isStream ? "" : await response.text();
    const isRefusal = response.headers.get("content-type") === "application/problem+json";
    if (isRefusal && method !== "HEAD") {
      const problem = JSON.parse(text) as { status: number; detail: unknown; request_id: unknown };
      expect(problem.status).to.equal(response.status);
      expect(problem.detail).to.be.a("string").and.not.equal("");
      expect(problem.request_id).to.equal(response.headers.get("x-request-id"));
    }
    return {
      status: response.status,
      code:
        isRefusal && method !== "HEAD"
          ? (JSON.parse(text) as { type: string }).type.split("/").at(-1)!
          : null,
      authenticate: response.headers.get("www-authenticate"),
      retryAfter: response.headers.get("retry-after"),
      limits: ["Limit", "Remaining", "Reset", "Daily-Limit", "Daily-Remaining"].map((name) =>
        response.headers.get(`X-RateLimit-${name}`),
      ),
    };
  };

  const isSecret = ({ headers }: Caller): boolean =>
    headers["Authorization"]?.includes("svc_live_") ?? false;
  /** What a caller gets at a route of this openness; `passing` when nothing stands in its way. */
  const expectedFor = (
    { verdict }: Caller,
    isOpen: boolean,
    passing: { status: number; code: string | null },
  ): { status: number; code: string | null } => {
    if (verdict === "passes" || (verdict === "passes if open" && isOpen)) return passing;
    if (verdict === "passes if open") return { status: 403, code: "secret-key-required" };
    const [status, code] = verdict.split(" ");
    return { status: Number(status), code: code! };
  };

  /** Sends it, compares, and keeps account of what the partner's usage must say. */
  const check = async (
    caller: Caller,
    method: string,
    path: string,
    expected: { status: number; code: string | null },
    body?: object,
  ): Promise<void> => {
    const at = `${caller.who}: ${method} ${path}`;
    const seen = await call(method, path, caller.headers, body);
    expect([seen.status, seen.code], at).to.deep.equal([
      expected.status,
      method === "HEAD" ? null : expected.code,
    ]);
    expect(seen.authenticate, at).to.equal(expected.status === 401 ? "Bearer" : null);
    expect(seen.retryAfter, at).to.equal(null);
    for (const value of seen.limits) expect(value, at).to.match(/^\d+$/);
    const isRefusal = expected.status === 401 || expected.status === 403;
    const isOff = caller.verdict === "403 partner-disabled";
    const ofPartner = isOff ? ["7", "50000"] : ["100000", "100000000"];
    const limits = expected.status === 401 ? ["120", "50000"] : ofPartner;
    expect([seen.limits[0], seen.limits[3]], at).to.deep.equal(limits);
    if (isOff) expect(seen.limits[1], at).to.equal("7");
    if (!isRefusal) passed[isSecret(caller) ? "secret" : "publishable"] += 1;
  };

  it("has a place for every route, and no other", () => {
    expect(Object.keys(samples).sort()).to.deep.equal(routes.map(nameOf).sort());
  });

  it("answers every route's method, HEAD and OPTIONS with the exact status, code and headers", async () => {
    for (const [n, route] of routes.entries()) {
      const { path, status, body } = samples[nameOf(route)]!;
      const isOpen = route.access === "any";
      const code = ownCodes[nameOf(route)] ?? null;
      const allowed = { status: 204, code: null };
      for (const [m, caller] of callers.entries()) {
        // In the short run who is refused everywhere asks every third route.
        if (!caller.verdict.startsWith("passes") && (n + m) % sized(3, 1) > 0) continue;
        await check(
          caller,
          route.method,
          path,
          expectedFor(caller, isOpen, { status, code }),
          body?.(),
        );
        // In the short run every caller asks some of the routes, and every route is asked by some of the callers.
        if ((n + m) % sized(6, 1) > 0) continue;
        await check(caller, "OPTIONS", path, expectedFor(caller, isOpen, allowed));
        if (route.method === "GET")
          await check(caller, "HEAD", path, expectedFor(caller, isOpen, { status, code }));
      }
    }
  });

  it("keeps the same order for unknown paths and wrong methods", async () => {
    for (const caller of callers) {
      const unknown = { status: 404, code: "not-found" };
      await check(caller, "GET", "/nothing", expectedFor(caller, false, unknown));
      const wrong = { status: 405, code: "method-not-allowed" };
      await check(caller, "DELETE", "/cities", expectedFor(caller, true, wrong));
    }
  });

  it("gives the description of the API to anybody", async () => {
    for (const { headers } of callers) {
      const response = await fetch(`${edge.url}/openapi.json`, { headers });
      expect(response.status).to.equal(200);
      await response.body?.cancel();
    }
  });

  it("counts what passed, and nothing that was refused with 401 or 403", async () => {
    const response = await fetch(`${edge.url}/usage?days=1`, {
      headers: { Authorization: `Bearer ${country.secret}` },
    });
    const usage = (await response.json()) as {
      today: { requests: number };
      widget: { today: { requests: number } };
    };
    expect(usage.today.requests).to.equal(passed.secret + 1);
    expect(usage.widget.today.requests).to.equal(passed.publishable);
    expect(Math.min(passed.secret, passed.publishable)).to.be.above(50);
    const marks = await rows<{ source: string }>(country.db, "select source from marks");
    const ofWidget = marks.filter(({ source }) => source === "widget").length;
    const widgetPasses = callers.filter(({ verdict }) => verdict.startsWith("passes")).length;
    expect(ofWidget).to.equal(widgetPasses);
  });
});
