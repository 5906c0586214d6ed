import { EventEmitter, once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { pino } from "pino";
import { createHealth } from "#api/http/health.ts";
import type { Route } from "#api/http/route.ts";
import type { Log } from "#src/infrastructure/log.ts";
import { addKey, addPartner, bearer, startEdge } from "#test/api/edge.ts";
import { useEdge } from "#test/api/edge.ts";
import { until } from "#test/flow/client.ts";

const begun = new EventEmitter();
const routes = (): Route[] => [
  {
    method: "GET",
    path: "/x",
    access: "any",
    summary: "",
    handle: (ctx) => void (ctx.body = { ok: 1 }),
  },
  {
    method: "GET",
    path: "/slow",
    access: "any",
    summary: "",
    handle: async (ctx) => {
      begun.emit("slow");
      await sleep(200);
      ctx.body = { ok: 1 };
    },
  },
  {
    method: "GET",
    path: "/bug",
    access: "any",
    summary: "",
    handle: () => {
      throw Object.assign(new Error("boom"), { config: { password: "hunter2" } });
    },
  },
];

/** A log that keeps its lines. */
function keptLog(): { log: Log; lines: string[] } {
  const lines: string[] = [];
  const log = pino({ level: "debug" }, { write: (line: string) => void lines.push(line) });
  return { log, lines };
}

describe("a web process", () => {
  let partner: number;
  let key: string;
  const { log, lines } = keptLog();
  const first = useEdge({ routes, log });
  const { instance } = first;
  const page = (path: string): Promise<Response> => fetch(first.origin + path);

  before(async () => {
    partner = await addPartner(first.db, { rpm: 10, daily: 1000 });
    key = await addKey(first.db, partner);
  });

  it("refuses by the daily quota, and a 404 comes after that", async () => {
    const small = await addKey(first.db, await addPartner(first.db, { daily: 1 }));
    const ask = async (path: string): Promise<[number, unknown]> => {
      const answer = await fetch(first.url + path, { headers: bearer(small) });
      const { window } = (await answer.json()) as { window?: string };
      return [answer.status, window];
    };
    expect(await ask("/nope")).to.deep.equal([404, undefined]);
    expect(await ask("/nope")).to.deep.equal([429, "86400s"]);
  });

  it("tells that it is alive and ready, without a key", async () => {
    const alive = await page("/healthz");
    expect([alive.status, await alive.json()]).to.deep.equal([200, { alive: true }]);
    const ready = await page("/readyz");
    expect(ready.status).to.equal(200);
    expect(ready.headers.get("X-RateLimit-Limit")).to.equal(null);
    expect(await ready.json()).to.deep.include({ ready: true });
  });

  it("writes a line for each request, with nothing in it that should not be kept", async () => {
    lines.splice(0);
    const answer = await fetch(`${first.url}/bug?q=secretquery`, {
      headers: { ...bearer(key), Cookie: "secretcookie", "User-Agent": "secretagent" },
    });
    await answer.text();
    const status = answer.status;
    const written = await until(
      async () => lines.find((one) => one.includes('"msg":"request"')),
      (one) => one !== undefined,
    );
    const line = JSON.parse(written!) as object;
    expect(line).to.include({ method: "GET", path: "/api/v1/partner/bug", status, partner });
    expect(line).to.include({ request_id: answer.headers.get("X-Request-Id") });
    expect(lines.join("")).not.to.match(/secretquery|secretcookie|secretagent|svc_live|hunter2/);
  });

  it("answers what is in flight before it stops, and takes nothing new", async () => {
    const edge = await startEdge(instance.config, { routes });
    const own = await addKey(first.db, await addPartner(first.db));
    await fetch(`${edge.url}/x`, { headers: bearer(own) }).then((answer) => answer.text());
    const slow = fetch(`${edge.url}/slow`, { headers: bearer(own) });
    await once(begun, "slow");
    const stopped = edge.stop();
    expect(edge.web.services.health.report().ready).to.equal(false);
    expect((await slow).status).to.equal(200);
    await stopped;
    const late = await fetch(`${edge.url}/x`).catch(() => "refused");
    expect(late).to.equal("refused");
  });

  it("goes on serving for LEAVE_MS while /readyz says that it leaves", async () => {
    const leaving = await startEdge({ ...instance.config, leaveMs: 5000 }, { routes });
    const own = await addKey(first.db, await addPartner(first.db));
    const origin = `http://127.0.0.1:${leaving.port}`;
    const stopped = leaving.stop();
    const readiness = await fetch(`${origin}/readyz`);
    expect(readiness.status).to.equal(503);
    expect(await readiness.json()).to.deep.include({ ready: false });
    const served = await fetch(`${leaving.url}/x`, { headers: bearer(own) });
    expect([served.status, served.headers.get("connection")]).to.deep.equal([200, "close"]);
    await stopped;
    const refused = await fetch(`${origin}/readyz`).catch((error: Error) => error);
    expect(refused).to.be.instanceOf(Error);
  });
});

describe("readiness", () => {
  it("is lost by a critical part, not by a degraded one", () => {
    const health = createHealth();
    expect(health.report().ready).to.equal(true);
    health.add("redis", () => ({ ok: false, detail: "away" }));
    expect(health.report()).to.deep.include({ ready: true, degraded: ["redis"] });
    health.add("stations", () => ({ ok: false, critical: true }));
    expect(health.report()).to.deep.include({ ready: false, degraded: ["redis", "stations"] });
  });
});
