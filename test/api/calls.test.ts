import { readFileSync } from "node:fs";
import type { Router } from "@koa/router";
import { expect } from "chai";
import fc from "fast-check";
import { createPages } from "#api/http/routers.ts";
import type { Route } from "#api/http/route.ts";
import { citiesTable } from "#api/pages/overview-table.ts";
import { nameOf } from "#bench/calls.ts";
import { withKey } from "#bench/calls/with-key.ts";
import { withoutKey } from "#bench/calls/without-key.ts";
import { daysTextOf, figuresOf } from "#snapshots/insights/figures.ts";
import type { Insights } from "#snapshots/insights/insight-store.ts";
import { copyInOrder } from "#snapshots/model/area-selection.ts";
import { writeCsv } from "#snapshots/model/csv.ts";
import { createReadModel } from "#snapshots/model/model.ts";
import { noCounts, noTimes } from "#src/domain/insights.ts";
import { dayMs } from "#src/domain/units.ts";
import { grades } from "#src/domain/vocabulary.ts";
import type { FeedRow } from "#src/feed/feed.ts";
import type { InsightDay } from "#src/marks/insight-days.ts";
import { lifetimeMs, row, startMs } from "#test/snapshots/arbitraries.ts";
import { addKey, addPartner, startEdge, type Edge } from "#test/api/edge.ts";
import { useInstance } from "#test/harness/use.ts";

/** `GET /list` for each route that needs no key, and what strangers meet besides. */
const open: string[] = ["ANY /api/v1/partner", "ANY /nothing"];
let routes: readonly Route[] = [];

describe("api: what calls may cost", () => {
  const instance = useInstance({
    ...{ LOG_LEVEL: "silent", PAGES_PER_MINUTE: "1", TRUSTED_PROXIES: "127.0.0.1" },
  });
  let edge: Edge;

  before(async () => {
    edge = await startEdge(instance.config, {
      pages: (services, all) => {
        routes = all;
        const pages = createPages(services, all);
        for (const page of pages as { router?: Router }[])
          for (const { methods, path } of page.router?.stack ?? []) {
            const own = methods.filter((method) => method !== "HEAD");
            open.push(`${own.length > 1 ? "ANY" : own[0]!} ${String(path)}`);
          }
        return pages;
      },
    });
  });
  after(() => edge.stop());

  /** As a page of ours would send it, from a network. */
  const ask = (name: string, ip: string): Promise<Response> => {
    const [method = "", path = ""] = name.split(" ");
    const isBody = ["POST", "PATCH", "DELETE"].includes(method);
    return fetch(edge.origin + path.replaceAll(/[:*](\w+)|\{\*page\}/g, "x"), {
      method: method === "ANY" ? "GET" : method,
      redirect: "manual",
      headers: {
        ...{ "X-Forwarded-For": ip, "Sec-Fetch-Site": "same-origin" },
        ...(isBody ? { "Content-Type": "application/json" } : {}),
      },
      ...(isBody ? { body: "{}" } : {}),
    });
  };

  it("has a row in the table of docs/operations.md for each page and call without a key, and for each of a key", () => {
    const table = readFileSync("docs/operations.md", "utf8");
    for (const name of open)
      expect(withoutKey.filter((row) => row.routes.test(name)).length, name).to.equal(1);
    for (const row of withoutKey) {
      expect(
        open.some((name) => row.routes.test(name)),
        row.name,
      ).to.equal(true);
      expect(table, row.name).to.include(`\n| ${row.name} |`);
    }
    const place = { lat: 55, lon: 37, name: "A" };
    const country = { stations: [{ id: "a", ...place }], cities: [place] };
    const keyed = withKey(country as never, 0);
    const names = routes.map(({ method, path }) => `${method} ${path}`);
    expect(keyed.flatMap((row) => row.routes).sort()).to.deep.equal(names.sort());
    for (const row of keyed) expect(table, nameOf(row)).to.include(`\n| ${nameOf(row)} |`);
  });

  it("limits each page and call without a key by network, but probes and the API's own refusals", async () => {
    const ip = "198.51.100.1";
    /** A minute may begin in between: the network's pages are then used up once more. */
    const isRefused = async (name: string): Promise<boolean> => {
      for (let tries = 0; tries < 3; tries++) {
        while ((await ask("GET /list", ip)).status !== 429);
        if ((await ask(name, ip)).status === 429) return true;
      }
      return false;
    };
    for (const { routes: own, limit } of withoutKey)
      for (const name of open.filter((one) => own.test(one)))
        expect(await isRefused(name), name).to.equal(limit !== "none");
  });

  it("refuses strangers each call that needs a session", async () => {
    const refused = withoutKey.filter((row) => row.isRefused);
    let n = 0;
    for (const name of open.filter((one) => refused.some((row) => row.routes.test(one)))) {
      const { status } = await ask(name, `203.0.${113 + (n >> 8)}.${n++ & 255}`);
      expect(status, name).to.be.oneOf(name === "ANY /console/queues" ? [308] : [401, 403]);
    }
  });

  it("takes as many marks in batches as a minute's requests are worth", async () => {
    const { db } = edge.web.services;
    const key = await addKey(db, await addPartner(db, { rpm: 3 }), "secret");
    const other = await addKey(db, await addPartner(db, { rpm: 3 }), "secret");
    const send = async (own: string, marks: number) => {
      const reports = Array.from({ length: marks }, (_, n) => ({
        ...{ station_id: "none", user_ref: `user ${n}`, status: "yes" },
      }));
      const headers = { Authorization: `Bearer ${own}`, "Content-Type": "application/json" };
      const body = JSON.stringify({ reports });
      return fetch(`${edge.url}/reports`, { method: "POST", headers, body });
    };
    const statuses: number[] = [];
    let last: Response;
    // A minute may begin in between.
    do statuses.push((last = await send(key, 200)).status);
    while (last.status === 202 && statuses.length < 6);
    expect(statuses.length, statuses.join()).to.be.below(5);
    const problem = (await last.json()) as { limit: number; type: string };
    expect(problem).to.include({ limit: 300, window: "60s" });
    expect(problem.type).to.match(/rate-limit-exceeded$/);
    expect(Number(last.headers.get("retry-after"))).to.be.within(1, 60);
    expect((await send(other, 200)).status).to.equal(202);
  });
});

/** An object that counts what is read of it. */
function counting<T extends object>(of: T): { of: T; looks: () => number } {
  let looks = 0;
  const get = (target: T, name: string | symbol): unknown => {
    looks += 1;
    return Reflect.get(target, name) as unknown;
  };
  return { of: new Proxy(of, { get }), looks: () => looks };
}

describe("api: what is made once", () => {
  const cityCount = 600;
  const byCity = <T>(one: (n: number) => T): Record<string, T> =>
    Object.fromEntries(Array.from({ length: cityCount }, (_, n) => [`c${n}`, one(n)]));
  const day = (at: number): InsightDay => ({
    at,
    cities: byCity((n) => ({ stations: n, ms: { ...noTimes().ms, yes: n * 9e4, no: 1e6 } })),
    grades: byCity((n) => grades.flatMap(() => [n, 3])),
  });
  const latest: Insights = {
    cities: Array.from({ length: cityCount }, (_, n) => ({
      ...{ id: `c${n}`, name: `City ${n}`, region: "", lat: 50, lon: 40, population: 1 },
    })),
    counts: byCity((n) => ({ ...noCounts(), stations: n })),
    days: Array.from({ length: 30 }, (_, n) => day(Date.UTC(2026, 0, n + 1))),
    today: { ...day(Date.UTC(2026, 0, 31)), lengthMs: dayMs / 2 },
    asOfMs: 0,
  };

  it("writes a day of a city once, as it would be written anew", () => {
    const anew = (n: number, days = 30, of = latest) =>
      JSON.stringify(figuresOf(of, `c${n}`, days).days);
    const midnight = { ...latest, today: { ...latest.today, lengthMs: 0 } };
    for (const of of [latest, midnight])
      for (const days of [1, 2, 29, 30, 31, 90])
        for (const n of [0, 7, 599, 600])
          expect(daysTextOf(of, days)(`c${n}`)).to.equal(anew(n, days, of));
    const past = counting(latest.days[0]!.cities);
    const days = [{ ...latest.days[0]!, cities: past.of }, ...latest.days.slice(1)];
    for (const asOfMs of [1, 2, 3]) daysTextOf({ ...latest, days, asOfMs }, 31)("c7");
    expect(past.looks()).to.equal(1);
  });

  it("counts the rows of the overview once for the figures of a minute", () => {
    const choice = {
      language: "en",
      lang: "",
      days: 7,
      of: "no",
      sort: "size",
      isUp: false,
    } as const;
    const table = (of: Insights) =>
      citiesTable(of, { ...choice, page: 1, city: "", embed: false, key: "" });
    const counts = counting(latest.counts);
    const minute = { ...latest, counts: counts.of };
    for (let turn = 1; turn <= 3; turn += 1) table(minute);
    expect(counts.looks()).to.equal(cityCount);
    table({ ...minute });
    expect(counts.looks()).to.equal(2 * cityCount);
  });

  it("writes a line of CSV once for as long as its station does not change", () => {
    const now = startMs + 1_000_000;
    const drawn = fc.sample(row(1_000_000), { numRuns: 400, seed: 7 });
    const rows = drawn.map((one, n): FeedRow => ({
      ...one,
      id: `n${n}`,
      seq: n + 1,
      removed: false,
    }));
    const model = createReadModel({ lifetimeMs, plainBytes: Infinity });
    model.apply(rows, now);
    const written = (isKept: boolean): string => {
      const stations = model.page({ filters: {}, after: "", limit: 400, now }).stations();
      const of = isKept ? stations : undefined;
      return writeCsv(copyInOrder(stations), undefined, undefined, of).toString();
    };
    for (let turn = 0; turn < 5; turn++) {
      expect(written(true)).to.equal(written(false));
      const changed = rows.filter((_, n) => n % 37 === turn);
      model.apply(
        changed.map((one, n) => ({ ...one, name: `a, ${turn}`, seq: 1000 * turn + n + 401 })),
        now,
      );
    }
    const stations = model.page({ filters: {}, after: "", limit: 400, now }).stations();
    const copy = copyInOrder(stations);
    let read = 0;
    copy.toString = (...range) => ((read += 1), Buffer.prototype.toString.apply(copy, range));
    for (let turn = 0; turn < 3; turn += 1) writeCsv(copy, undefined, undefined, stations);
    expect(read).to.equal(rows.length);
  });
});
