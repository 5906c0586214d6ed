import { readFileSync } from "node:fs";
import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { Redis } from "ioredis";
import { parse } from "yaml";
import { withChecksum } from "#src/infrastructure/checksum.ts";
import { startEdge } from "#test/api/edge.ts";
import { metricsSpellings, say } from "#test/harness/wire.ts";
import { familiesOf, readExposition, type Samples } from "#test/api/exposition.ts";
import { type Client, createClient } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { useEdgeOn } from "#test/api/edge.ts";
import { useStage } from "#test/flow/stage.ts";

describe("GET /metrics", function () {
  // No marks worker: what is sent stays unprocessed.
  const { instance, country } = useStage(3, [], { LOG_LEVEL: "silent", WAIT_MS: "50" });
  const edge = useEdgeOn(instance);
  let partner: Client;
  let page: Client;

  before(() => {
    partner = createClient(edge.origin, country.secret);
    page = createClient(edge.origin, country.publishable);
  });

  const text = async (): Promise<string> => {
    const answer = await ask(edge.port, {});
    expect(answer.status).to.equal(200);
    expect(answer.type).to.match(/^text\/plain; version=0\.0\.4/);
    return answer.body;
  };
  const samples = async (): Promise<Samples> => readExposition(await text());
  /**
   * By how much each sample grew while `work` ran. A request is counted a moment after it was answered, so this looks
   * again until what is expected is there, or for too long.
   */
  const growth = async (
    work: () => Promise<unknown>,
    expected: Record<string, number>,
  ): Promise<Record<string, number>> => {
    const before = await samples();
    await work();
    for (const end = Date.now() + 10_000; ; await sleep(20)) {
      const now = await samples();
      const grown = [...now].map(([name, value]) => [name, value - (before.get(name) ?? 0)]);
      const all = Object.fromEntries(grown) as Record<string, number>;
      const done = Object.entries(expected).every(([name, by]) => (all[name] ?? 0) >= by);
      if (done || Date.now() > end) return all;
    }
  };

  it("counts requests by template and code, with their durations", async () => {
    const expected = {
      'fuelmark_requests_total{route="/stations/{station_id}",code="200"}': 3,
      'fuelmark_requests_total{route="/stations/{station_id}",code="404"}': 1,
      'fuelmark_requests_total{route="/stations",code="422"}': 1,
      'fuelmark_requests_total{route="/stations",code="401"}': 1,
      'fuelmark_request_duration_seconds_count{route="/stations/{station_id}"}': 4,
      'fuelmark_request_duration_seconds_bucket{le="+Inf",route="/stations/{station_id}"}': 4,
    };
    const grown = await growth(async () => {
      for (const n of [0, 1, 2]) await partner.get(`/stations/${placeOf(n).id}`);
      await partner.get("/stations/n404");
      await partner.get("/stations");
      await createClient(`http://127.0.0.1:${edge.port}`, "svc_live_wrong").get("/stations");
    }, expected);
    expect(grown).to.include(expected);
    expect(grown['fuelmark_request_duration_seconds_sum{route="/stations"}']).to.be.above(0);
  });

  it("makes no labels from what strangers send", async () => {
    const before = new Set((await samples()).keys());
    for (let i = 0; i < 50; i += 1) {
      await partner.get(`/nothing-${i}`);
      await partner.get(`/stations/unknown-${i}`);
      await fetch(`http://127.0.0.1:${edge.port}/page-${i}`);
      await say(edge.port, `BREW-${i} /${i} HTTP/1.1\r\n\r\n`);
    }
    const made = [...(await samples()).keys()].filter((name) => !before.has(name));
    expect(made.join("\n")).not.to.match(/nothing-|unknown-|page-|BREW/);
    // Other names may have come up meanwhile, of Node's own figures.
    const labels = new Set(made.flatMap((name) => /route="([^"]*)"/.exec(name)?.[1] ?? []));
    expect([...labels]).to.have.members(["(none)", "(page)", "(unreadable)"]);
  });

  it("counts marks by what became of them", async () => {
    const place = placeOf(0);
    const expected = {
      'fuelmark_marks_total{result="accepted"}': 1,
      'fuelmark_marks_total{result="duplicate"}': 1,
      'fuelmark_marks_total{result="station-cooldown"}': 1,
      'fuelmark_marks_total{result="expired"}': 1,
    };
    const grown = await growth(async () => {
      await partner.mark(place, "a", { status: "yes" });
      await partner.mark(place, "a", { status: "yes" });
      await partner.mark(place, "a", { status: "no" });
      await partner.mark(place, "b", { status: "yes", observed_at: "2020-01-01 00:00:00" });
      await partner.mark(place, "c", { status: "yes" }, { "X-Dry-Run": "1" });
    }, expected);
    expect(grown).to.include(expected);
  });

  it("shows what no worker has come for", async () => {
    // Figures are kept for some seconds, by each process and for all of them: first such as no process counts here.
    const redis = new Redis(instance.redisUrl);
    const backlog = { unprocessed: 7, oldestS: 0, failed: 0, refolds: 0 };
    const key = `${instance.redisPrefix}:figures:2:backlog`;
    await redis.set(key, withChecksum(key, JSON.stringify(backlog)));
    const first = await startEdge(instance.config);
    const { body } = await ask(first.port, {});
    await first.stop();
    await redis.del(key);
    redis.disconnect();
    expect(readExposition(body).get("fuelmark_marks_unprocessed")).to.equal(7);
    const other = await startEdge(instance.config);
    try {
      const found = readExposition((await ask(other.port, {})).body);
      expect(found.get("fuelmark_marks_unprocessed")).to.equal(1);
      expect(found.get("fuelmark_marks_failed")).to.equal(0);
      expect(found.get("fuelmark_marks_oldest_age_seconds")).to.be.least(0);
      expect(found.get('fuelmark_queue_depth{queue="marks"}')).to.be.least(1);
      expect(found.get('fuelmark_queue_oldest_age_seconds{queue="marks"}')).to.be.least(0);
      expect(found.get('fuelmark_queue_depth{queue="upkeep"}')).to.equal(0);
      expect(found.get("fuelmark_retention_seconds")).to.equal(400 * 86_400);
    } finally {
      await other.stop();
    }
  });

  it("counts hits and misses of the rectangle cache", async () => {
    const { lat, lon } = placeOf(1);
    const box = `/stations?bbox=${lat - 0.01},${lon - 0.01},${lat + 0.01},${lon + 0.01}`;
    const expected = {
      'fuelmark_rectangles_total{result="miss"}': 1,
      'fuelmark_rectangles_total{result="hit"}': 2,
    };
    const grown = await growth(async () => {
      for (let i = 0; i < 3; i += 1) await page.get(box);
    }, expected);
    expect(grown).to.include(expected);
  });

  it("shows the state of the process", async () => {
    const found = await samples();
    expect(found.get("fuelmark_ready")).to.equal(1);
    expect(found.get("fuelmark_redis_away")).to.equal(0);
    expect(found.get("fuelmark_change_lag_seconds")).to.be.within(1, 30);
    expect(found.get("fuelmark_change_read_age_seconds")).to.be.within(0, 30);
    expect(found.get("fuelmark_change_seq")).to.be.above(0);
    expect(found.get("fuelmark_dump_age_seconds")).to.be.NaN;
    expect(found.get('fuelmark_degraded{part="dump"}')).to.equal(1);
    expect(found.get('fuelmark_degraded{part="stations"}')).to.equal(0);
    expect(found.get('fuelmark_pool_connections{state="free"}')).to.be.above(0);
    expect(found.get("nodejs_eventloop_lag_p99_seconds")).to.be.above(0);
    expect(found.get("process_resident_memory_bytes")).to.be.above(0);
  });

  it("is shown to direct callers only, unless a token is set", async () => {
    for (const header of ["X-Forwarded-For", "X-Real-IP", "Forwarded", "Via"])
      expect((await ask(edge.port, { [header]: "127.0.0.1" })).status, header).to.equal(401);
    expect((await ask(edge.port, { Authorization: "Bearer anything" })).status).to.equal(200);

    const guarded = await startEdge({ ...instance.config, metricsToken: "s3cret" });
    try {
      expect((await ask(guarded.port, {})).status).to.equal(401);
      expect((await ask(guarded.port, { Authorization: "Bearer s3cre" })).status).to.equal(401);
      const shown = { Authorization: "Bearer s3cret", "X-Forwarded-For": "203.0.113.9" };
      expect((await ask(guarded.port, shown)).status).to.equal(200);
    } finally {
      await guarded.stop();
    }
  });

  it("is at one spelling of its path alone", async () => {
    for (const path of metricsSpellings) {
      const said = await say(
        edge.port,
        `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
      );
      const own = /^(http:..a)?.metrics(\?x)?$/.test(path);
      expect(said.includes("# HELP"), path).to.equal(own);
      expect(said, path).to.match(own ? /^HTTP.1.1 200/ : /^HTTP.1.1 4(01|04|22)/);
    }
  });

  it("has every figure that docs/alerts.yml and docs/operations.md name", async () => {
    const families = familiesOf(await text());
    const known = new Set(
      families.flatMap((name) => ["", "_bucket", "_sum", "_count"].map((end) => name + end)),
    );
    const { groups } = parse(readFileSync("docs/alerts.yml", "utf8")) as {
      groups: { rules: { alert: string; expr: string; annotations: { summary: string } }[] }[];
    };
    const rules = groups.flatMap((group) => group.rules);
    expect(rules).to.not.be.empty;
    for (const { alert, expr, annotations } of rules) {
      const named = expr.match(/\b(fuelmark|nodejs|process)_\w+/g) ?? [];
      // `up` is Prometheus's own.
      if (!/\bup\b/.test(expr)) expect(named, alert).to.not.be.empty;
      expect(
        named.filter((name) => !known.has(name)),
        alert,
      ).to.deep.equal([]);
      expect(annotations.summary, alert).to.be.a("string").and.not.equal("");
    }
    const manual = readFileSync("docs/operations.md", "utf8");
    // `fuelmark_app` is a user of the database.
    const named = manual.match(/`fuelmark_(?!app\b)\w+/g)?.map((name) => name.slice(1)) ?? [];
    expect(named.filter((name) => !known.has(name))).to.deep.equal([]);
    expect(named).to.not.be.empty;
  });
});

/** fetch() would not send every header as it is. */
const ask = (
  port: number,
  headers: Record<string, string>,
): Promise<{ status: number; type: string; body: string }> =>
  new Promise((resolve, reject) => {
    const asked = request({ port, host: "127.0.0.1", path: "/metrics", headers }, (answer) => {
      let body = "";
      answer.setEncoding("utf8");
      answer.on("data", (piece: string) => (body += piece));
      answer.on("end", () => {
        const type = answer.headers["content-type"] ?? "";
        resolve({ status: answer.statusCode ?? 0, type, body });
      });
    });
    asked.on("error", reject);
    asked.end();
  });
