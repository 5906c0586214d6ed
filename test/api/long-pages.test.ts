import type { ServerResponse } from "node:http";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { refuseCrowd } from "#api/stations/format.ts";
import { createRandom } from "#demo/country/random.ts";
import { makeStations } from "#demo/country/stations.ts";
import {
  type ListRest,
  makeCursor,
  type Format,
  forms,
  wholeList,
  written,
} from "#snapshots/model/forms.ts";
import { sizeOf } from "#snapshots/model/area-selection.ts";
import { filtersKey } from "#snapshots/model/filters.ts";
import type { Answer } from "#snapshots/model/queries.ts";
import { emptyState } from "#src/domain/state.ts";
import { parseTime } from "#src/domain/time.ts";
import type { FeedRow } from "#src/feed/feed.ts";
import { alone, isCrowded } from "#src/infrastructure/turns.ts";
import { addKey, addPartner, useEdgeOn } from "#test/api/edge.ts";
import { serving } from "#test/api/reads-country.ts";
import { until } from "#test/flow/client.ts";
import { sized } from "#test/harness/long.ts";
import { useInstance } from "#test/harness/use.ts";

const accepts: Record<Format, string> = {
  json: "*/*",
  geojson: "application/geo+json",
  ndjson: "application/x-ndjson",
  csv: "text/csv",
};
const formats = Object.keys(accepts) as Format[];
const world = "bbox=-90,-180,90,180&status=yes";

describe("long lists of a large country", function () {
  // Every block has to be inflated for each answer.
  const instance = useInstance({ LOG_LEVEL: "silent", PLAIN_BYTES: "0" });
  let key: string;
  let publishable: string;
  before(async () => {
    const partner = await addPartner(instance.db, { rpm: 100_000, daily: 1_000_000 });
    key = await addKey(instance.db, partner);
    publishable = await addKey(instance.db, partner, "publishable");
  });
  const edge = useEdgeOn(instance);

  /** In the order of their ids: each page lies in all blocks, as they hold neighbours on the map. */
  const madeAt = Date.now();
  const rows = makeStations(createRandom(5), 17_000).map((station, n): FeedRow => ({
    ...{ ...station, addr: "Long street ".repeat(1 + (n % 9)) },
    ...{ seq: n + 1, at: madeAt - 1000, removed: false, chance: null },
    state: n % 5 === 0 ? serving("yes", madeAt - 60_000) : emptyState,
  }));
  const sinceMs = Math.floor((madeAt - 60_000) / 1000) * 1000;
  before(() => {
    const { model, clock } = edge.web.services;
    model.apply(rows, clock());
  });

  const headers = (by: string, format: Format, coding: string) => ({
    ...{ Authorization: `Bearer ${by}`, Accept: accepts[format], "Accept-Encoding": coding },
  });
  const ask = async (path: string, format: Format, coding: string, by = key) => {
    const answer = await fetch(edge.url + path, { headers: headers(by, format, coding) });
    expect(answer.status, path).to.equal(200);
    expect(answer.headers.get("content-encoding") ?? "identity").to.equal(coding);
    const body = Buffer.from(await answer.arrayBuffer());
    return { body, head: answer.headers, asOfMs: asOfOf(body, answer.headers) };
  };
  const asOfOf = (body: Buffer, head: Headers): number => {
    const text = head.get("x-as-of") ?? /"as_of":"([^"]*)"/.exec(body.toString("latin1"))![1]!;
    return parseTime(text)!;
  };
  const page = (after: string, limit: number, asOfMs: number): [Answer, ListRest] => {
    const { model, clock, config } = edge.web.services;
    const found = model.page({ after, limit, now: clock() });
    const nextCursor =
      found.next === "" ? "" : makeCursor({ after: found.next, asOfMs }, filtersKey({}));
    const { statusLifetimeMs: lifetimeMs } = config;
    return [found, { count: found.count, asOfMs, lifetimeMs, truncated: false, nextCursor }];
  };

  const codings: Record<Format, string[]> = {
    json: sized(["identity", "gzip"], ["identity", "gzip", "br"]),
    ...{ geojson: ["gzip"], ndjson: ["br"], csv: ["identity"] },
  };
  for (const format of formats)
    it(`are the model's as ${format}, page by page`, async () => {
      for (const coding of codings[format]) {
        const first = await ask("/stations/all?limit=11000", format, coding);
        const [found, rest] = page("", 11_000, first.asOfMs);
        expect(found.isLong()).to.equal(true);
        expect(first.body.equals(wholeList(found, rest, format)), coding).to.equal(true);
        const length = Number(first.head.get("content-length"));
        if (coding !== "identity") expect(length).to.be.within(1, first.body.length / 4);
        else if (format === "json") expect(length).to.equal(first.body.length);
        const path = `/stations/all?limit=16000&cursor=${rest.nextCursor}`;
        const second = await ask(path, format, coding);
        const last = page(rows[10_999]!.id, 16_000, first.asOfMs);
        expect(last[0].count).to.equal(6000);
        expect(second.body.equals(wholeList(...last, format)), coding).to.equal(true);
      }
    });

  it("have the same head for HEAD", async () => {
    const path = `${edge.url}/stations/all?limit=16000`;
    const method = "HEAD";
    const answer = await fetch(path, { method, headers: headers(key, "json", "identity") });
    const { body } = await ask("/stations/all?limit=16000", "json", "identity");
    expect(Number(answer.headers.get("content-length"))).to.equal(body.length);
  });

  it("are the model's as the delta of a country", async () => {
    const { model, clock } = edge.web.services;
    const path = `/stations/delta?updated_since=${new Date(sinceMs).toISOString().slice(0, 19)}Z`;
    const found = model.changesOf(model.changedSince(sinceMs, clock()), clock());
    const right = JSON.stringify(JSON.parse(`[${found.pieces()[0]!.bytes.toString()}]`));
    for (const coding of sized(["identity", "br"], ["identity", "gzip", "br"])) {
      const { body } = await ask(path, "json", coding);
      const { stations, removed } = JSON.parse(body.toString());
      expect([stations.length, removed]).to.deep.equal([rows.length, []]);
      expect(JSON.stringify(stations) === right, coding).to.equal(true);
    }
  });

  it("are those of the moment of the call, however long the stations are looked for", async () => {
    const { model, clock } = edge.web.services;
    const [gone, moved] = [rows[3]!, rows[16_000]!];
    const there = (one: FeedRow, seq: number) => model.apply([{ ...one, seq }], clock());
    model.apply([{ ...gone, seq: 20_001, removed: true }], clock());
    const right = model.changesOf(model.changedSince(sinceMs, clock()), clock());
    const finding = model.delta(sinceMs, clock());
    there(gone, 20_002);
    there({ ...moved, lat: moved.lat + 1, addr: "Elsewhere" }, 20_003);
    const found = await finding;
    const [a, b] = [found, right].map((one) => one.pieces()[0]!.bytes);
    expect(a!.equals(b!)).to.equal(true);
    expect([found.count, found.sum, found.removed]).to.deep.equal([16_999, right.sum, [gone.id]]);
    expect(sizeOf(found.stations())).to.equal(a!.length + 1);
    there(moved, 20_004);
  });

  it("are the same from few stations of many places, to keys that share a cache as well", async () => {
    const { model, clock } = edge.web.services;
    const box = { south: -90, west: -180, north: 90, east: 180 };
    const area = { kind: "box", box } as const;
    const found = model.query({ area, filters: { statuses: ["yes"] }, limit: 4000, now: clock() });
    expect([found.count, found.isLong()]).to.deep.equal([3400, true]);
    const ids = found.stations().slots.length;
    for (const by of [key, publishable])
      for (const coding of sized(["gzip", "identity"], ["identity", "gzip", "br", "identity"])) {
        const { body } = await ask(`/stations?${world}`, "json", coding, by);
        const { stations, count } = JSON.parse(body.toString());
        expect(count).to.equal(ids);
        expect(new Set(stations.map(({ id }: { id: string }) => id)).size).to.equal(ids);
        const { body: lines } = await ask(`/stations?${world}`, "ndjson", coding, by);
        expect(
          lines
            .toString()
            .trim()
            .split("\n")
            .map((line) => JSON.parse(line))
            .sort(byId),
        ).to.deep.equal(stations.sort(byId));
      }
  });

  it("hold one piece for a caller who does not read, and stay as they were when asked for", async () => {
    const { model, clock } = edge.web.services;
    const right = await ask("/stations/all?limit=30000", "json", "identity");
    const answered: ServerResponse[] = [];
    const note = (_: unknown, res: ServerResponse): void => void answered.push(res);
    edge.web.server.on("request", note);
    const socket = connect(edge.port, "127.0.0.1").pause();
    const lines = Object.entries(headers(key, "json", "identity")).map((one) => one.join(": "));
    socket.write(
      [
        "GET /api/v1/partner/stations/all?limit=30000 HTTP/1.1",
        "Host: a",
        ...lines,
        "Connection: close",
        "\r\n",
      ].join("\r\n"),
    );
    await until(
      () => Promise.resolve(answered[0]?.writableLength ?? 0),
      (length) => length > 0,
    );
    edge.web.server.off("request", note);
    const last = rows.at(-1)!;
    for (const addr of ["Elsewhere", last.addr]) {
      // Other answers are made meanwhile, of another state.
      model.apply([{ ...last, addr, seq: last.seq + 1 }], clock());
      const { body } = await ask("/stations/all?limit=30000", "json", "gzip");
      expect(body.includes("Elsewhere")).to.equal(addr === "Elsewhere");
    }
    expect(answered[0]!.writableFinished).to.equal(false);
    expect(answered[0]!.writableLength).to.be.within(1, right.body.length / 10);
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk as Buffer);
    const whole = Buffer.concat(chunks);
    const withoutTime = (body: Buffer): string => body.toString().replace(/"as_of":"[^"]*"/, "");
    expect(withoutTime(whole.subarray(whole.indexOf("\r\n\r\n") + 4))).to.equal(
      withoutTime(right.body),
    );
  });

  it("wait in turn, so many and not more, and those whose caller has gone are passed over", async () => {
    const [found, rest] = page("", 16_000, 0);
    const some = [...Array(30).keys()].map((n) =>
      written(forms.json, found.stations(), rest, () => n % 3 !== 0),
    );
    for (const one of some) await one.next();
    expect(isCrowded()).to.equal(false);
    const seconds = some.map((one) => one.next());
    expect(isCrowded()).to.equal(true);
    expect(refuseCrowd).to.throw("upstream-unavailable");
    for (const [n, second] of (await Promise.all(seconds)).entries())
      expect(second.done).to.equal(n % 3 !== 0);
    expect(isCrowded()).to.equal(false);
    const whole = wholeList(found, rest, "json");
    for (let n = 0; n < some.length; n += 3) {
      const pieces: Buffer[] = [forms.json.head, Buffer.from((await seconds[n]!).value as Buffer)];
      for await (const piece of some[n]!) pieces.push(Buffer.from(piece));
      expect(Buffer.concat(pieces).equals(whole)).to.equal(true);
    }
  });

  it("refuse a delta before it waits, and none that has waited", async () => {
    const path = `/stations/delta?updated_since=${new Date(sinceMs).toISOString().slice(0, 19)}Z`;
    const held: (() => void)[] = [];
    const hold = (): Promise<void> => alone(() => new Promise((done) => held.push(done)));
    const before = Array.from({ length: 29 }, hold);
    const first = ask(path, "json", "identity");
    await until(async () => isCrowded(), Boolean);
    const after = Array.from({ length: 30 }, hold);
    const late = await fetch(edge.url + path, { headers: headers(key, "json", "identity") });
    expect([late.status, late.headers.get("retry-after")]).to.deep.equal([503, "5"]);
    await late.arrayBuffer();
    const all = Promise.all([...before, ...after]);
    for (const ended = all.then(() => true); ;) {
      held.splice(0).forEach((done) => done());
      if (await Promise.race([ended, sleep(20).then(() => false)])) break;
    }
    expect(JSON.parse((await first).body.toString()).count).to.equal(rows.length);
  });
});

const byId = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : 1);
