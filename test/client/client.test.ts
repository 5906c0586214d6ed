import { expect } from "chai";
import { pause } from "#client/call.ts";
import { parseBox } from "#api/stations/stations-query.ts";
import { createClient } from "#client/client.ts";
import { isApiError, secondsOf } from "#client/problem.ts";
import {
  problem,
  type Scripted,
  type ScriptedServer,
  startScripted,
} from "#test/client/scripted-server.ts";

describe("the client's calls", () => {
  let server: ScriptedServer | undefined;
  afterEach(async () => {
    await server?.stop();
    server = undefined;
  });

  const script = async (answers: Scripted[], settings: object = {}) => {
    server = await startScripted(
      (_, count) => answers[Math.min(count, answers.length) - 1] ?? null,
    );
    return createClient({ baseUrl: `${server.baseUrl}/`, key: "svc_live_x", ...settings });
  };
  const failure = async (call: Promise<unknown>) => {
    try {
      await call;
    } catch (error) {
      if (isApiError(error)) return error;
      throw error;
    }
    throw new Error("expected a refusal");
  };
  const list = { status: 200, headers: { ETag: 'W/"a"' }, body: { stations: [], count: 0 } };

  it("takes the service's address or that of its API, as documents give it", async () => {
    const api = await script([list]);
    await api.cities({});
    const other = createClient({ baseUrl: `${server!.baseUrl}/api/v1/partner/`, key: "k" });
    await other.cities({});
    expect(server!.asked).to.deep.equal(["GET /cities", "GET /cities"]);
  });

  it("writes queries as the API reads them, with the key", async () => {
    const api = await script([list]);
    await api.stations({
      bbox: [1, 2, 3, 4],
      status: ["yes", "low"],
      has_price: true,
      sort: "distance",
    });
    await api.all();
    await api.station("n 1");
    expect(server?.asked).to.deep.equal([
      "GET /stations?bbox=1,2,3,4&status=yes,low&has_price=true&sort=distance",
      "GET /stations/all",
      "GET /stations/n 1",
    ]);
    expect(server?.headers[0]?.authorization).to.equal("Bearer svc_live_x");
  });

  it("asks for usage and for other limits, and never asks for limits twice", async () => {
    const api = await script([{ status: 200, body: {} }, list, list, { status: 503 }]);
    await api.usage();
    await api.usage({ days: 30 });
    await api.limitRequests({ limit: 5 });
    const wish = { requested_rpm: 600, requested_daily: 200_000, comment: "More" };
    expect(await failure(api.askLimits(wish))).to.include({ status: 503 });
    expect(server?.asked).to.deep.equal([
      "GET /usage",
      "GET /usage?days=30",
      "GET /limit-requests?limit=5",
      "POST /limit-requests",
    ]);
  });

  it("writes numbers near zero without an exponent", async () => {
    const api = await script([list]);
    await api.stations({ bbox: [-1e-7, 0.1 + 0.2 - 0.3, 51, 0.5], radius_km: 1e-7 });
    expect(server?.asked[0]).to.equal(
      "GET /stations?bbox=-0.000000100000,0.000000000000,51,0.5&radius_km=0.000000100000",
    );
    const box = new URLSearchParams(server?.asked[0]?.split("?")[1]).get("bbox") as string;
    expect(parseBox(box)).to.deep.equal({ south: -1e-7, west: 0, north: 51, east: 0.5 });
  });

  it("tells what changed from what did not by ETag", async () => {
    const notModified = {
      status: 304,
      headers: { ETag: 'W/"a"', "X-As-Of": "2026-01-01 00:00:00" },
    };
    const api = await script([list, notModified]);
    const first = await api.all.ifChanged({}, null);
    expect(first).to.deep.equal({ etag: 'W/"a"', body: list.body });
    const again = await api.all.ifChanged({}, first.etag);
    expect(again).to.deep.equal({ etag: 'W/"a"', body: null, asOf: "2026-01-01 00:00:00" });
    expect(server?.headers.map((one) => one["if-none-match"])).to.deep.equal([undefined, 'W/"a"']);
  });

  it("waits as long as Retry-After says, then asks again", async () => {
    for (const refusal of [
      problem(429, "rate-limit-exceeded", { "Retry-After": "1" }),
      problem(503, "upstream-unavailable", { "Retry-After": "1" }),
    ]) {
      const api = await script([refusal, list]);
      const startedAt = Date.now();
      await api.cities({});
      expect(Date.now() - startedAt).to.be.at.least(990);
      await server?.stop();
    }
    server = undefined;
  });

  it("asks again after a lost connection, and gives up in the end", async () => {
    const api = await script([null, { status: 502 }, list]);
    await api.cities({});
    expect(server?.asked).to.have.length(3);
    await server?.stop();
    const hopeless = await script([null], { retries: 1 });
    const error = await failure(hopeless.cities({}));
    expect(error).to.include({ status: 0, code: "no-answer" });
    expect(server?.asked).to.have.length(2);
  });

  it("says why there was no answer", async () => {
    server = await startScripted(() => null);
    const { baseUrl } = server;
    await server.stop();
    server = undefined;
    const api = createClient({ baseUrl, key: "k", retries: 0 });
    const { message } = await failure(api.cities({}));
    expect(message).to.equal(`fetch failed: connect ECONNREFUSED ${new URL(baseUrl).host}`);
  });

  it("leaves refusals and long waits to the caller", async () => {
    const api = await script([problem(429, "daily-quota-exceeded", { "Retry-After": "3600" })]);
    const error = await failure(api.cities({}));
    expect(error).to.include({ status: 429, code: "daily-quota-exceeded", retryAfterS: 3600 });
    expect(error.problem?.request_id).to.equal("r");
    await server?.stop();
    const other = await script([problem(422, "bad-bbox")]);
    expect(await failure(other.stations({ bbox: [9, 9, 1, 1] }))).to.include({ code: "bad-bbox" });
    expect(server?.asked).to.have.length(1);
  });

  it("sends a mark twice only where that is safe", async () => {
    const mark = { status: "yes", user_ref: "u" } as const;
    const done = { status: 200, body: { accepted: true } };
    const api = await script([null, done]);
    expect(await failure(api.report("n1", mark))).to.include({ status: 0 });
    await server?.stop();
    const safe = await script([null, done]);
    await safe.report("n1", { ...mark, external_id: "1" }, { wait: 0 });
    expect(server?.asked).to.have.length(2);
    expect(server?.headers[1]?.["prefer"]).to.equal("wait=0");
    await server?.stop();
    // Never looked at, so that nothing can be in it twice.
    const limited = await script([
      problem(429, "rate-limit-exceeded", { "Retry-After": "0" }),
      done,
    ]);
    await limited.report("n1", mark);
    await server?.stop();
    const cooling = await script([problem(429, "station-cooldown", { "Retry-After": "1" })]);
    expect(await failure(cooling.report("n1", { ...mark, external_id: "2" }))).to.include({
      code: "station-cooldown",
    });
    expect(server?.asked).to.have.length(1);
  });

  it("tries a mark in a dry run, as often as it takes", async () => {
    const api = await script([null, { status: 200, body: { reports: [] } }]);
    const mark = { status: "yes", user_ref: "u" } as const;
    await api.report("n1", mark, { dryRun: true });
    await api.reports([{ ...mark, station_id: "n1" }], { dryRun: true, wait: 1 });
    expect(server?.headers.map((sent) => sent["x-dry-run"])).to.deep.equal(["1", "1", "1"]);
    expect(server?.headers[2]?.["prefer"]).to.equal("wait=1");
  });

  it("ends an attempt that takes too long, and one that is given up", async () => {
    server = await startScripted(() => new Promise(() => {}));
    const { baseUrl } = server;
    const api = createClient({ baseUrl, key: "k", timeoutS: 0.1, retries: 0 });
    expect((await failure(api.cities({}))).message).to.match(/no answer within 0.1 s/);
    const giveUp = new AbortController();
    const asking = createClient({ baseUrl, key: "k" }).cities({}, { signal: giveUp.signal });
    setTimeout(() => giveUp.abort(new Error("enough")), 50);
    const ended = await asking.catch((error: unknown) => error);
    expect(ended).to.include({ message: "enough" });
  });

  it("does not take a very long wait for none", async () => {
    const giveUp = new AbortController();
    const waiting = pause(90 * 24 * 3600_000, giveUp.signal).catch((error: unknown) => error);
    const soon = new Promise((resolve) => setTimeout(resolve, 30, "still waiting"));
    expect(await Promise.race([waiting, soon])).to.equal("still waiting");
    giveUp.abort(new Error("enough"));
    expect(await waiting).to.include({ message: "enough" });
  });

  it("understands answers that are no problem documents, and Retry-After as a date", async () => {
    const api = await script([{ status: 400, body: "?" }]);
    expect(await failure(api.cities({}))).to.include({
      status: 400,
      code: "http-400",
      problem: null,
    });
    const now = Date.UTC(2026, 0, 1);
    expect(secondsOf("Thu, 01 Jan 2026 00:00:07 GMT", now)).to.equal(7);
    expect(secondsOf("Thu, 01 Jan 1970 00:00:07 GMT", now)).to.equal(0);
    expect(secondsOf("soon", now)).to.equal(null);
  });
});
