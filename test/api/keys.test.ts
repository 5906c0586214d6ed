import { randomBytes } from "node:crypto";
import { expect } from "chai";
import type { Route } from "#api/http/route.ts";
import { newKey } from "#src/keys/key-text.ts";
import { addKey, addPartner, bearer, startEdge, useEdge } from "#test/api/edge.ts";
import { openGate } from "#test/api/gate.ts";
import { until } from "#test/flow/client.ts";

const routes = (): Route[] => [
  {
    method: "GET",
    path: "/open",
    access: "any",
    summary: "",
    handle: (ctx) => void (ctx.body = { ok: 1 }),
  },
];

describe("keys at the API's edge", () => {
  let aheadMs = 0;
  const edge = useEdge({
    clock: () => Date.now() + aheadMs,
    settings: { KEYS_REFRESH_MS: "15000", TRUSTED_PROXIES: "127.0.0.1" },
    routes,
  });
  let partner: number;
  let secret: string;
  let queries: string[];
  // A refresh comes whenever the NOTIFY of an earlier change does, and at its end what was looked up is forgotten: each
  // that is seen here, and one that had begun before, may cause one look-up more.
  const isLookup = (sql: string): boolean => sql.includes("unnest");
  const lookups = (): string[] => queries.filter(isLookup);
  const mostLookups = (): number =>
    2 + queries.filter((sql) => sql.includes("k.hash") && !isLookup(sql)).length;

  const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(edge.url + path, { headers });
  const codeOf = async (response: Response): Promise<string> => {
    const { type } = (await response.json()) as { type?: string };
    return type?.split("/").at(-1) ?? `${response.status}`;
  };
  const code = async (path: string, headers: Record<string, string>): Promise<string> =>
    codeOf(await get(path, headers));

  before(async () => {
    partner = await addPartner(edge.db);
    secret = await addKey(edge.db, partner);
    queries = [];
    // The process's own polls of the change feed go on meanwhile.
    edge.db.on("query", ({ sql }: { sql: string }) => {
      if (/\bkeys\b/.test(sql)) queries.push(sql);
    });
  });
  beforeEach(() => queries.splice(0));

  it("works as soon as it is issued, with one query for its first sight and none afterwards", async () => {
    const key = await addKey(edge.db, partner);
    queries.splice(0);
    const first = await Promise.all(
      Array.from({ length: 20 }, () => get("/open", bearer(key)).then(({ status }) => status)),
    );
    expect(new Set(first)).to.deep.equal(new Set([200]));
    // None when a refresh has brought it first.
    expect(lookups().length).to.be.at.most(mostLookups());
    queries.splice(0);
    for (let i = 0; i < 5; i += 1) await get("/open", bearer(key));
    expect(lookups()).to.deep.equal([]);
  });

  it("is looked up once when it is unknown, and never when its checksum is wrong", async () => {
    const unknown = newKey("secret", randomBytes(32));
    for (let i = 0; i < 20; i += 1) {
      expect(await code("/open", bearer(unknown))).to.equal("invalid-key");
    }
    expect(lookups().length).to.be.within(1, mostLookups());
    queries.splice(0);
    const typo = unknown.slice(0, -1) + (unknown.endsWith("0") ? "1" : "0");
    expect(await code("/open", bearer(typo))).to.equal("invalid-key");
    expect(lookups()).to.deep.equal([]);
  });

  it("is refused with 401 in every wrong form", async () => {
    const forms: Record<string, string>[] = [
      {},
      { Authorization: "" },
      { Authorization: secret },
      { Authorization: "Bearer" },
      { Authorization: `Basic ${secret}` },
      { Authorization: `Bearer ${secret}x` },
      { Authorization: `Bearer ${secret} ${secret}` },
      { Authorization: `Bearer ${secret.toLowerCase()}` },
      { "X-Api-Key": secret },
    ];
    for (const headers of forms) {
      const response = await get("/open", headers);
      expect(response.status).to.equal(401);
      expect(response.headers.get("WWW-Authenticate")).to.equal("Bearer");
      expect(response.headers.get("Content-Type")).to.equal("application/problem+json");
      expect(await codeOf(response)).to.equal("invalid-key");
    }
    expect((await get(`/open?key=${secret}`)).status).to.equal(401);
  });

  it("may be sent with the scheme in any case", async () => {
    expect((await get("/open", { Authorization: `bearer ${secret}` })).status).to.equal(200);
    expect((await get("/open", { Authorization: `BEARER  ${secret} ` })).status).to.equal(200);
  });

  it("is refused when it is revoked, at once after a NOTIFY", async () => {
    const key = await addKey(edge.db, partner);
    expect((await get("/open", bearer(key))).status).to.equal(200);
    await edge
      .db("keys")
      .where({ prefix: key.slice(0, 13) })
      .update({ revoked_at: edge.db.fn.now() });
    await edge.db.raw("notify keys");
    await until(
      () => code("/open", bearer(key)),
      (now) => now === "invalid-key",
      5000,
    );
  });

  it("is refused when it has expired", async () => {
    const expires_at = new Date(Date.now() + 60_000);
    const key = await addKey(edge.db, partner, "secret", { expires_at });
    expect((await get("/open", bearer(key))).status).to.equal(200);
    aheadMs = 61_000;
    expect(await code("/open", bearer(key))).to.equal("invalid-key");
    aheadMs = 0;
  });

  it("that is wrong is metered by address, and never with a 429", async () => {
    const headers = { "X-Forwarded-For": "7.7.7.7" };
    let last: Response | undefined;
    for (let i = 0; i < 130; i += 1) {
      last = await get("/open", headers);
      expect(await codeOf(last)).to.equal("invalid-key");
    }
    expect(last?.headers.get("X-RateLimit-Limit")).to.equal("120");
    expect(last?.headers.get("X-RateLimit-Daily-Limit")).to.equal("50000");
    expect(Number(last?.headers.get("X-RateLimit-Remaining"))).to.be.below(120);
  });

  it("works on while Postgres is away; one not seen before gets 503 and may be sent again", async () => {
    const gate = await openGate(edge.config.databaseUrl);
    const cut = await startEdge({ ...edge.config, databaseUrl: gate.url }, { routes });
    try {
      const fresh = await addKey(edge.db, partner);
      await gate.shut();
      const known = await fetch(`${cut.url}/open`, { headers: bearer(secret) });
      expect(known.status).to.equal(200);
      const response = await fetch(`${cut.url}/open`, { headers: bearer(fresh) });
      expect(response.status).to.equal(503);
      expect(response.headers.get("Retry-After")).to.equal("5");
      expect(response.headers.get("X-RateLimit-Limit")).to.equal("120");
      expect(await codeOf(response)).to.equal("upstream-unavailable");
      expect((await fetch(`http://127.0.0.1:${cut.port}/healthz`)).status).to.equal(200);
    } finally {
      await gate.shut();
      await cut.stop();
    }
  });
});
