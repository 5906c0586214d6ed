import { once } from "node:events";
import { connect } from "node:net";
import { expect } from "chai";
import { Redis } from "ioredis";
import { type Db, rows } from "#src/infrastructure/db.ts";
import { createClient } from "#test/flow/client.ts";
import { type Country, placeOf } from "#test/flow/country.ts";
import { untilProcessed } from "#test/flow/refold.ts";
import { deviceReporter, partnerReporter } from "#src/marks/marks.ts";
import { runOperator } from "#test/harness/operator.ts";
import { useStage } from "#test/flow/stage.ts";
import { usePrivateRedis } from "#test/harness/use.ts";

const canary = "canary-7f3a9c";
const user = (n: number): string => `${canary}-${n}`;
const device = `${canary}-device`;
/** What a log line must not hold either: parts of a request that nobody has named as fit for it. */
const unlogged = "canary-in-query-or-header";

describe("flow: raw user_refs and keys stay nowhere, and of the erased nothing", function () {
  const redis = usePrivateRedis();
  const settings = () => ({ REDIS_URL: redis.url, LOG_LEVEL: "trace", SLOT_MS: "500" });
  const names = ["web", "marks", "snapshots", "upkeep", "clock"];
  const { instance, country, web, webs, workers } = useStage(3, names, settings);
  /** What must not be found, and what must be: a search that finds nothing at all proves nothing. */
  let forbidden: string[];

  before(async () => {
    forbidden = [canary, country.secret, country.publishable];
    await sendEverywhere(web.baseUrl, country);
    await untilProcessed(country.db);
    await eraseEverybody(web.baseUrl, country, instance.env);
    const { reporterPepper } = instance.config;
    const people = [0, 1, 4, 6].map((n) =>
      partnerReporter(reporterPepper, country.partnerId, user(n)),
    );
    forbidden.push(...people, deviceReporter(reporterPepper, device));
  });

  it("holds none in the log of any role at level trace", () => {
    const lines = [...webs, ...workers].flatMap((role) => role.lines);
    expect(lines.filter((line) => line.includes("/report"))).to.not.be.empty;
    expect(lines.filter((line) => line.includes("/users/…"))).to.have.length.above(3);
    expect(lines.filter((line) => line.includes('"status":500'))).to.not.be.empty;
    const all = [...forbidden, unlogged];
    expect(lines.filter((line) => all.some((text) => line.includes(text)))).to.deep.equal([]);
  });

  it("holds none in what /metrics shows", async () => {
    const text = await (await fetch(`${web.baseUrl}/metrics`)).text();
    expect(text).to.contain('route="/widget/stations/{station_id}/report"');
    expect([...forbidden, unlogged].filter((one) => text.includes(one))).to.deep.equal([]);
  });

  it("holds none in any key or value of Redis", async () => {
    const client = new Redis(redis.url);
    const texts: string[] = [];
    try {
      // What the service counts may be in Postgres already.
      await client.hset("planted", { field: "planted by the test" });
      for await (const keys of client.scanStream({ count: 1000 }))
        for (const key of keys as string[]) texts.push(key, await valueOf(client, key));
    } finally {
      client.disconnect();
    }
    expect(texts.some((text) => text.includes("planted by the test"))).to.equal(true);
    expect(texts.some((text) => text.includes(instance.redisPrefix))).to.equal(true);
    expect(found(texts, forbidden)).to.deep.equal([]);
  });

  it("holds none in any table of Postgres", async () => {
    const texts = await everyRow(country.db);
    expect(texts.some((text) => text.includes("external-kept"))).to.equal(true);
    const erased = "lat is not null or lon is not null or acc_m is not null or comment is not null";
    const sql = `select station_id, ${erased} as kept from marks order by id`;
    const marks = await rows<{ kept: boolean }>(country.db, sql);
    expect(marks.map(({ kept }) => kept)).to.deep.equal([false, false, false, false, false, true]);
    expect(found(texts, forbidden)).to.deep.equal([]);
  });
});

/** Marks that are accepted, refused, repeated, broken, and that fail in the database. */
async function sendEverywhere(baseUrl: string, country: Country): Promise<void> {
  const client = createClient(baseUrl, country.secret);
  const status = "yes";
  const text = `${canary} was here`;
  const mark = (n: number, body: object = {}, headers: Record<string, string> = {}) =>
    client.mark(
      placeOf(n % 3),
      user(n),
      { status, external_id: `${canary}-mark-${n}`, text, acc_m: 5, ...body },
      headers,
    );
  expect((await mark(0)).status).to.equal(200);
  expect((await mark(0)).body.duplicate).to.equal(true);
  expect((await mark(0, { status: "no", external_id: "other" })).status).to.equal(429);
  expect((await mark(1, {}, { Prefer: "respond-async" })).status).to.equal(202);
  expect((await mark(2, { fuels: ["13"] })).status).to.equal(422);
  expect((await mark(2, { user_ref: user(2).repeat(20) })).status).to.equal(422);
  await mark(3, {}, { "X-Dry-Run": "1" });
  await client.post("/reports", {
    reports: [{ station_id: placeOf(0).id, user_ref: user(4), status }, { user_ref: user(5) }],
  });
  const page = createClient(baseUrl, country.publishable);
  await page.get(`/stations/${placeOf(0).id}`);
  const { id, lat, lon } = placeOf(1);
  const drawn = { device, status, text, lat, lon };
  const reported = await page.post(`/widget/stations/${id}/report`, drawn);
  expect(reported.status).to.equal(200);
  await page.post(`/widget/stations/${placeOf(1).id}/confirm`, { device, status });
  await page.post(`/widget/stations/${placeOf(1).id}/report`, { device, status: "never" });
  await client.get(`/stations?city=${unlogged}&q=${unlogged}`, {
    ...{ Cookie: `session=${unlogged}`, "User-Agent": unlogged, Referer: `http://${unlogged}/` },
    ...{ "X-Other": unlogged, "If-None-Match": unlogged, Accept: unlogged, Prefer: unlogged },
  });
  await createClient(baseUrl, `${country.secret}x`).get("/stations/all");
  await fetch(`${baseUrl}/widget/?key=${country.publishable}`);
  await fetch(`${baseUrl}/api/v1/partner/stations/${country.secret}?key=${country.secret}`);
  await sendRaw(
    baseUrl,
    `GET /\u0416 HTTP/1.1\r\nAuthorization: Bearer ${country.secret}\r\n\r\n${canary}`,
  );
  await country.db.raw("alter table mark_keys rename to mark_keys_away");
  expect((await mark(6)).status).to.equal(500);
  await country.db.raw("alter table mark_keys_away rename to mark_keys");
  expect((await mark(6)).status).to.equal(200);
  const bystander = { status, external_id: "external-kept", text: "kept" };
  expect((await client.mark(placeOf(2), "bystander", bystander)).status).to.equal(200);
}

/** In all three ways; then again, and with addresses that lead nowhere. */
async function eraseEverybody(
  baseUrl: string,
  country: Country,
  env: Record<string, string>,
): Promise<void> {
  const client = createClient(baseUrl, country.secret);
  const page = createClient(baseUrl, country.publishable);
  const byOperator = ["--partner", `${country.partnerId}`, "--user-ref", user(0)];
  const operated = await runOperator(env, "reporter", "erase", ...byOperator, "--json");
  expect(operated.json).to.deep.equal({ erased: true });
  const found: boolean[] = [];
  for (const n of [0, 1, 2, 3, 4, 5, 6])
    found.push((await client.delete(`/users/${user(n)}`)).body.erased as boolean);
  expect(found).to.deep.equal([false, true, false, false, true, false, true]);
  for (const erased of [true, false])
    expect((await page.post("/widget/forget", { device })).body.erased).to.equal(erased);
  const exported = await runOperator(env, "reporter", "export", ...byOperator);
  expect(JSON.parse(exported.out)).to.include({ first_seen: null });
  expect((await client.get(`/users/${user(0)}`)).status).to.equal(405);
  expect((await client.delete(`/users/${user(0)}/more`)).status).to.equal(404);
  expect((await client.delete(`/user/${user(0)}`)).status).to.equal(404);
  expect((await fetch(`${baseUrl}/pages/of/${encodeURIComponent(user(0))}`)).status).to.equal(404);
  const head = `Host: x\r\nAuthorization: Bearer ${country.secret}\r\nConnection: close`;
  await sendRaw(baseUrl, `DELETE /api/v1/partner/%75sers/${user(0)} HTTP/1.1\r\n${head}\r\n\r\n`);
  expect((await page.delete(`/users/${user(0)}`)).status).to.equal(403);
}

/** What Node's parser refuses takes another way to the log. */
async function sendRaw(baseUrl: string, text: string): Promise<void> {
  const socket = connect(Number(new URL(baseUrl).port), "127.0.0.1");
  socket.end(text);
  socket.resume();
  await once(socket, "close");
}

/** The value of a key while roles are at work: one that was gone may come back as another kind in between. */
async function valueOf(client: Redis, key: string): Promise<string> {
  for (;;) {
    const read = await readAs(client, key, await client.type(key)).catch((error: Error) => {
      if (error.message.startsWith("WRONGTYPE")) return null;
      throw error;
    });
    if (read !== null) return read;
  }
}

async function readAs(client: Redis, key: string, type: string): Promise<string> {
  const values: unknown[] = await (type === "string"
    ? client.getBuffer(key).then((value) => [value?.toString("latin1")])
    : type === "hash"
      ? client.hgetall(key).then((value) => [value])
      : type === "list"
        ? client.lrange(key, 0, -1)
        : type === "set"
          ? client.smembers(key)
          : type === "zset"
            ? client.zrange(key, "0", "-1")
            : client.xrange(key, "-", "+"));
  return JSON.stringify(values);
}

/** Every row of every table as text; bytes are shown as hex. */
async function everyRow(db: Db): Promise<string[]> {
  const tables = await rows<{ name: string }>(
    db,
    "select oid::regclass::text as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace",
  );
  const texts: string[] = [];
  for (const { name } of tables) {
    const all = await rows<{ text: string }>(db, `select t::text as text from ${name} t`);
    texts.push(...all.map((row) => row.text));
  }
  return texts;
}

const found = (texts: readonly string[], forbidden: readonly string[]): string[] => {
  const forms = forbidden.flatMap((text) => [text, Buffer.from(text).toString("hex")]);
  return texts.filter((text) => forms.some((form) => text.includes(form)));
};
