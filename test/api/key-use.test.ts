import { expect } from "chai";
import type { Route } from "#api/http/route.ts";
import { rows } from "#src/infrastructure/db.ts";
import { addKey, addPartner, bearer, startEdge, useEdge } from "#test/api/edge.ts";
import { until } from "#test/flow/client.ts";
import { runOperator } from "#test/harness/operator.ts";

const routes = (): Route[] => [
  {
    method: "GET",
    path: "/open",
    access: "any",
    summary: "",
    handle: (ctx) => void (ctx.body = { ok: 1 }),
  },
];

const refreshMs = 100;

describe("last use of keys", function () {
  const edge = useEdge({
    settings: { KEYS_REFRESH_MS: String(refreshMs) },
    routes,
    clock: () => Date.now() + aheadMs,
  });
  let partner: number;
  let aheadMs = 0;
  const writes: string[] = [];

  before(async () => {
    partner = await addPartner(edge.db);
    edge.db.on("query", ({ sql }: { sql: string }) => {
      if (/update keys .*last_used_at/s.test(sql)) writes.push(sql);
    });
  });
  beforeEach(() => void writes.splice(0));

  const use = (key: string, headers = {}) =>
    fetch(`${edge.url}/open`, { headers: { ...bearer(key), ...headers } }).then((r) => r.text());
  const lastUsed = async (key: string): Promise<number | null> => {
    const [row] = await rows<{ at: Date | null }>(
      edge.db,
      "select last_used_at as at from keys where prefix = ?",
      [key.slice(0, key.indexOf("live_") + 9)],
    );
    return row!.at?.getTime() ?? null;
  };
  /** The service's clock follows the database's, and may be a little behind this process's. */
  const written = (key: string, since: number) =>
    until(
      () => lastUsed(key),
      (at) => at !== null && at >= since - 1000,
    );

  it("is written by the next refresh, for all keys used in one statement", async () => {
    const keys = await Promise.all(
      (["secret", "publishable", "secret"] as const).map((kind) => addKey(edge.db, partner, kind)),
    );
    const since = Date.now();
    expect(await Promise.all(keys.map(lastUsed))).to.deep.equal([null, null, null]);
    const begun = performance.now();
    await Promise.all(keys.map((key) => use(key)));
    const refreshes = Math.ceil((performance.now() - begun) / refreshMs) + 1;
    for (const key of keys)
      expect(await written(key, since)).to.be.within(since - 1000, Date.now() + 1000);
    expect(writes.length).to.be.within(1, refreshes);
  });

  it("is written once a minute, however often the key is used", async () => {
    const key = await addKey(edge.db, partner);
    await use(key);
    const first = (await written(key, 1))!;
    const refreshed = edge.web.services.keys.refreshedAt!;
    // Ten refreshes later:
    await until(
      () => use(key).then(() => edge.web.services.keys.refreshedAt!),
      (at) => at > refreshed + 1000,
    );
    expect(await lastUsed(key)).to.equal(first);
    expect(writes).to.have.length(1);
    await until(
      async () => {
        aheadMs += 60_000;
        await use(key);
        return (await lastUsed(key))!;
      },
      (at) => at > first + 59_000,
    );
  });

  it("is not that of a wrong key, and that of a refused request is", async () => {
    const key = await addKey(edge.db, partner, "publishable", { domains: ["partner.com"] });
    await use(`${key.slice(0, -1)}${key.endsWith("0") ? "1" : "0"}`);
    const since = Date.now() + aheadMs;
    const after = await addKey(edge.db, partner);
    await use(after);
    await written(after, since);
    expect(await lastUsed(key)).to.equal(null);
    await use(key, { Origin: "https://evil.example" });
    await written(key, since);
  });

  it("is written when the process stops, and shown by `key list`", async () => {
    const key = await addKey(edge.db, partner);
    const other = await startEdge({ ...edge.config, keysRefreshMs: 600_000 }, { routes });
    const since = Date.now();
    await fetch(`${other.url}/open`, { headers: bearer(key) }).then((r) => r.text());
    await other.stop();
    expect(await lastUsed(key)).to.be.at.least(since - 1000);
    const listed = await runOperator(edge.instance.env, "key", "list", "--json");
    const prefix = key.slice(0, key.indexOf("live_") + 9);
    const shown = (listed.json as { prefix: string; kind: string; last_used: string }[]).find(
      (one) => one.prefix === prefix,
    )!;
    expect(shown.kind).to.equal("secret");
    expect(Date.parse(shown.last_used)).to.be.at.least(since - 1000);
    const table = await runOperator(edge.instance.env, "key", "list");
    expect(table.out)
      .to.match(/last.used/i)
      .and.to.include(prefix);
    expect(table.out + JSON.stringify(listed.json)).to.not.include(key);
  });
});
