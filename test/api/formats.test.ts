import { noSales } from "#src/domain/vocabulary.ts";
import { type IncomingMessage, ServerResponse } from "node:http";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { request } from "node:http";
import { expect } from "chai";
import Koa from "koa";
import { pickFormat } from "#api/stations/format.ts";
import { forms, written } from "#snapshots/model/forms.ts";
import { emptyState } from "#src/domain/state.ts";
import { addKey, addPartner } from "#test/api/edge.ts";
import { serving, writeStations } from "#test/api/reads-country.ts";
import { checkAnswer } from "#test/harness/watched.ts";
import { useInstance } from "#test/harness/use.ts";
import { useEdgeOn } from "#test/api/edge.ts";

const geojson = "application/geo+json";
const ndjson = "application/x-ndjson";

/** The format that a request with this header gets. */
function formatOf(accept: string | undefined, kind = "secret"): string {
  const app = new Koa();
  const req = { headers: { accept }, socket: {} } as unknown as IncomingMessage;
  const ctx = app.createContext(req, new ServerResponse(req));
  ctx.state = { key: { kind } };
  return pickFormat(ctx as never);
}

describe("Accept", () => {
  const cases: [header: string | undefined, picked: string][] = [
    [undefined, "json"],
    ["", "json"],
    ["*/*", "json"],
    ["application/json", "json"],
    ["application/json; charset=utf-8", "json"],
    [geojson, "geojson"],
    ["Application/GEO+JSON", "geojson"],
    [ndjson, "ndjson"],
    [`${geojson}, */*`, "geojson"],
    [`*/*, ${ndjson}`, "ndjson"],
    [`${geojson};q=0.5, */*;q=0.8`, "json"],
    [`${geojson};q=0.5, ${ndjson};q=0.7`, "ndjson"],
    [`${geojson}, application/json`, "geojson"],
    [`application/json, ${geojson}`, "json"],
    [`application/json;q=0, ${geojson};q=0.1`, "geojson"],
    ["application/json;q=0, application/*", "geojson"],
    [`${geojson}; charset=utf-8`, "geojson"],
    [`${geojson};charset="UTF-8";q=0.5, ${ndjson};q=0.7`, "ndjson"],
    ["text/csv; header=present; charset=utf-8", "csv"],
    ["text/csv; charset=koi8-r", "json"],
    ["application/*;q=0.2, application/json;q=0.1", "geojson"],
    [`${geojson};q=0`, "json"],
    ["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "json"],
    ["text/csv", "csv"],
    [`text/csv;q=0.5, ${geojson}`, "geojson"],
    ["text/*", "csv"],
    ["application/geo+jsonx, nonsense;;,,", "json"],
  ];
  it("gives no CSV to publishable keys", () => {
    expect(formatOf("text/csv", "publishable")).to.equal("json");
    expect(formatOf(`text/csv, ${ndjson};q=0.1`, "publishable")).to.equal("ndjson");
  });
  for (const [header, picked] of cases) {
    it(`"${header}" gives ${picked}`, () => expect(formatOf(header)).to.equal(picked));
  }
});

/** A station as these forms have it: null in place of an empty time. */
const exported = <One extends { fuel: { updated: string } }>(one: One) => ({
  ...one,
  fuel: { ...one.fuel, updated: one.fuel.updated || null },
});

describe("formats of station lists", function () {
  const instance = useInstance({ LOG_LEVEL: "silent" });
  let key: string;
  let publishable: string;
  const now = Date.now();

  before(async () => {
    const { db } = instance;
    const partner = await addPartner(db, { rpm: 100_000, daily: 1_000_000 });
    key = await addKey(db, partner);
    publishable = await addKey(db, partner, "publishable");
    await writeStations(db, [
      {
        id: "n1",
        lat: 55.03,
        lon: 82.92,
        brand: "Лукойл",
        name: 'АЗС, "1" {}',
        state: serving("yes", now, { fuelsNow: ["95"] }),
      },
      { id: "n2", lat: -0.5, lon: -179.999999, addr: "a,b" },
      { id: "r_3-x", lat: 90, lon: 180 },
      { id: "w4", lat: 1e-7, lon: 0 },
    ]);
  });
  const edge = useEdgeOn(instance);

  const unpacked = (body: Buffer, encoding: string | undefined): string =>
    (encoding === undefined || body.length === 0
      ? body
      : encoding === "gzip"
        ? gunzipSync(body)
        : brotliDecompressSync(body)
    ).toString();
  interface Raw {
    status: number;
    headers: Record<string, string | string[] | undefined>;
    body: Buffer;
  }
  /** As the bytes come: fetch would unpack them and hide the headers of that. */
  const ask = (method: string, path: string, headers: Record<string, string> = {}): Promise<Raw> =>
    new Promise((resolve, reject) => {
      const sent = request(
        edge.url + path,
        { method, headers: { Authorization: `Bearer ${key}`, ...headers }, agent: false },
        (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("error", reject);
          response.on("end", () => {
            const { statusCode: status = 0, headers } = response;
            const body = Buffer.concat(chunks);
            checkAnswer(new URL(edge.url + path), method, {
              status,
              headers: new Headers(headers as Record<string, string>),
              body: unpacked(body, headers["content-encoding"]),
            }).then(() => resolve({ status, headers, body }), reject);
          });
        },
      );
      sent.on("error", reject);
      sent.end();
    });
  const json = async (path: string, headers: Record<string, string> = {}) =>
    JSON.parse((await ask("GET", path, headers)).body.toString());

  const world = "/stations?bbox=-90,-180,90,180";
  for (const path of [
    world,
    `${world}&sort=distance`,
    "/stations/all",
    "/stations/all?limit=3",
    `${world}&status=low`,
  ]) {
    it(`writes ${path} as GeoJSON`, async () => {
      const plain = await json(path);
      const answer = await ask("GET", path, { Accept: geojson });
      expect(answer.headers["content-type"]).to.equal(geojson);
      const { type, features, ...rest } = JSON.parse(answer.body.toString());
      expect(type).to.equal("FeatureCollection");
      // A cursor contains `as_of`, and a second may have passed.
      const { stations, as_of: _, next_cursor: next, ...envelope } = plain;
      expect(rest).to.deep.include(envelope);
      expect(Boolean(rest.next_cursor)).to.equal(Boolean(next));
      expect(Object.keys(rest)).to.deep.equal(Object.keys(plain).slice(1));
      expect(features).to.deep.equal(
        stations
          .map(exported)
          .map(({ id, lat, lon, ...properties }: { id: string; lat: number; lon: number }) => ({
            ...{ type: "Feature", id, geometry: { type: "Point", coordinates: [lon, lat] } },
            properties,
          })),
      );
    });

    it(`writes ${path} as lines, the envelope as headers`, async () => {
      const plain = await json(path);
      const { headers, body } = await ask("GET", path, { Accept: ndjson });
      expect(headers["content-type"]).to.equal(ndjson);
      const lines = body.toString().split("\n");
      expect(lines.pop()).to.equal("");
      expect(lines.map((line) => JSON.parse(line))).to.deep.equal(plain.stations.map(exported));
      expect(headers["x-count"]).to.equal(String(plain.count));
      expect(headers["x-as-of"]).to.match(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
      expect(headers["x-stale-after-hours"]).to.equal("24");
      expect(headers["x-truncated"]).to.equal("false");
      const next = headers["x-next-cursor"];
      expect(next === undefined).to.equal(!plain.next_cursor);
      if (next === undefined) return;
      const page = await ask("GET", `/stations/all?limit=3&cursor=${next}`, { Accept: ndjson });
      expect(JSON.parse(page.body.toString()).id).to.equal("w4");
      expect(page.headers["x-as-of"]).to.equal(headers["x-as-of"]);
    });
  }

  it("gives each format its own ETag, and 304 for that one alone", async () => {
    for (const path of [world, "/stations/all"]) {
      const tags = new Map<string, string>();
      for (const accept of ["application/json", geojson, ndjson]) {
        const { headers } = await ask("GET", path, { Accept: accept });
        tags.set(accept, headers["etag"] as string);
        expect(headers["vary"]).to.equal("Accept-Encoding, Accept");
      }
      expect(new Set(tags.values()).size).to.equal(3);
      for (const [accept, tag] of tags)
        for (const [asked] of tags) {
          const answer = await ask("GET", path, { Accept: asked, "If-None-Match": tag });
          expect(answer.status).to.equal(asked === accept ? 304 : 200);
          expect(answer.headers["vary"]).to.equal("Accept-Encoding, Accept");
        }
    }
  });

  it("packs streams as asked for", async () => {
    for (const accept of [geojson, ndjson]) {
      const plain = await ask("GET", "/stations/all", { Accept: accept });
      expect(plain.headers["content-encoding"]).to.equal(undefined);
      const gzip = await ask("GET", "/stations/all", { Accept: accept, "Accept-Encoding": "gzip" });
      expect(gzip.headers["content-encoding"]).to.equal("gzip");
      const br = await ask("GET", "/stations/all", { Accept: accept, "Accept-Encoding": "br" });
      expect(br.headers["content-encoding"]).to.equal("br");
      const bare = (text: string): string => text.replace(/"as_of":"[^"]*"/, "");
      const expected = bare(plain.body.toString());
      expect(bare(gunzipSync(gzip.body).toString())).to.equal(expected);
      expect(bare(brotliDecompressSync(br.body).toString())).to.equal(expected);
    }
  });

  it("packs even a short answer for a caller that takes nothing else", async () => {
    for (const path of ["/stations/n1", "/stations?bbox=0,0,0.1,0.1", "/cities?q=zzz"]) {
      const plain = await ask("GET", path, { "Accept-Encoding": "gzip, br" });
      expect(plain.headers["content-encoding"], path).to.equal(undefined);
      for (const accepted of ["gzip, identity;q=0", "gzip, *;q=0"]) {
        const { headers, body } = await ask("GET", path, { "Accept-Encoding": accepted });
        expect(headers["content-encoding"], path).to.equal("gzip");
        expect(headers["etag"]).to.equal(plain.headers["etag"]);
        const bare = (text: string): string => text.replace(/"as_of":"[^"]*"/, "");
        expect(bare(gunzipSync(body).toString())).to.equal(bare(plain.body.toString()));
      }
    }
    const refused = await ask("GET", "/cities", { "Accept-Encoding": "identity;q=0" });
    expect(refused.status).to.equal(200);
  });

  const changing = new Set([
    "date",
    "x-request-id",
    "x-ratelimit-remaining",
    "x-ratelimit-daily-remaining",
    "x-ratelimit-reset",
    "transfer-encoding",
    "x-as-of",
    // It carries `as_of`.
    "x-next-cursor",
  ]);
  const lasting = ({ headers }: Raw) =>
    Object.fromEntries(
      Object.entries(headers).filter(
        ([name]) =>
          !changing.has(name) &&
          // `as_of` is packed too, and may be a second later.
          !(name === "content-length" && headers["content-encoding"] !== undefined),
      ),
    );

  it("answers HEAD with the headers of GET and no body, on every route", async () => {
    const paths = [
      world,
      "/stations/all",
      "/stations/all?limit=2",
      "/stations/n1",
      "/cities",
      "/stations/n9",
    ];
    paths.push(`/stations/delta?updated_since=${new Date(now - 3600_000).toISOString()}`);
    paths.push("/reports/123", "/nowhere");
    for (const path of paths)
      for (const headers of [
        {},
        { "Accept-Encoding": "gzip" },
        { Accept: geojson },
        { Accept: ndjson },
        { "If-None-Match": "*" },
      ] as Record<string, string>[]) {
        const get = await ask("GET", path, headers);
        const head = await ask("HEAD", path, headers);
        expect(head.body.length).to.equal(0);
        expect(head.status, path).to.equal(get.status);
        expect(lasting(head), path).to.deep.equal(lasting(get));
      }
    const got = await ask("GET", "/stations/n1");
    expect(got.headers["content-length"]).to.equal(String(got.body.length));
  });

  it("writes 30,000 stations in small pieces, with a turn for others between them", async () => {
    const { services } = edge.web;
    const rows = Array.from({ length: 30_000 }, (_, n) => ({
      ...{ id: `big-${n}`, lat: (n % 180) - 90, lon: (n % 359) - 180, brand: "Меридиан" },
      ...{ name: `АЗС № ${n}`, addr: "улица Ленина, 1", ...noSales },
      ...{ seq: 1, at: now, removed: false, state: emptyState, chance: null },
    }));
    services.model.apply(rows, now);
    const page = services.model.page({ after: "", limit: 30_000, now });
    const rest = { count: 30_000, asOfMs: now, lifetimeMs: 1, truncated: false };
    const stations = page.stations();
    for (const form of [forms.json, forms.geojson, forms.ndjson]) {
      const pieces = written(form, stations, rest);
      let turns = 0;
      const others = setInterval(() => turns++, 0);
      let most = 0;
      let count = 0;
      for await (const piece of pieces) {
        most = Math.max(most, piece.length);
        count++;
      }
      clearInterval(others);
      expect(count).to.be.greaterThan(100);
      expect(most).to.be.lessThan(256 * 1024);
      expect(turns).to.be.greaterThan(3);
    }
    for (const accept of [geojson, ndjson]) {
      const path = "/stations/all?limit=30000";
      const { body } = await ask("GET", path, { Accept: accept, "Accept-Encoding": "gzip" });
      const text = gunzipSync(body).toString();
      if (accept === geojson) expect(JSON.parse(text).features).to.have.length(30_000);
      else expect(text.split("\n")).to.have.length(30_001);
    }
  });

  it("sends long answers packed as the caller takes them, to every kind of key", async () => {
    // The stations of the test before.
    const world = "bbox=-90,-180,90,180";
    const auth = { Authorization: `Bearer ${publishable}` };
    const found = `${world}&sort=distance&q=${encodeURIComponent("азс")}`;
    for (const [query, both] of [
      // Put together from what is deflated already, and packed anew.
      [world, "gzip"],
      [found, "br"],
    ])
      for (const accept of ["application/json", geojson, ndjson]) {
        const path = `/stations?${query}`;
        const encodingOf = async (encoding: string, more: Record<string, string>) => {
          const sent = { Accept: accept, "Accept-Encoding": encoding, ...more };
          const { status, headers, body } = await ask("GET", path, sent);
          const text = unpacked(body, headers["content-encoding"] as string | undefined);
          expect([status, text.length > 100_000]).to.deep.equal([200, true]);
          return headers["content-encoding"];
        };
        expect(await encodingOf("br, gzip", auth), path).to.equal(both);
        expect(await encodingOf("br", auth), path).to.equal("br");
        expect(await encodingOf("br, identity;q=0", auth), path).to.equal("br");
        expect(await encodingOf("identity", auth), path).to.equal(undefined);
        expect(await encodingOf("gzip", auth), path).to.equal("gzip");
        expect(await encodingOf("br", {}), path).to.equal("br");
      }
    const short = await ask("GET", "/cities", { ...auth, "Accept-Encoding": "br, identity;q=0" });
    expect(short.headers["content-encoding"]).to.equal("br");
  });
});
