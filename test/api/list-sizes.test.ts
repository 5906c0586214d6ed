import { request, type IncomingHttpHeaders } from "node:http";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect } from "chai";
import type { Format } from "#snapshots/model/forms.ts";
import { rows } from "#src/infrastructure/db.ts";
import { slices } from "#src/infrastructure/lists.ts";
import { emptyState } from "#src/domain/state.ts";
import { noSales } from "#src/domain/vocabulary.ts";
import { addKey, addPartner, useEdge, useEdgeOn } from "#test/api/edge.ts";
import { until } from "#test/flow/client.ts";
import { openStream, type StreamReader } from "#test/flow/stream-reader.ts";
import { createDumpMaker } from "#test/flow/dump-maker.ts";
import { readWhole } from "#test/harness/lists.ts";
import { sized } from "#test/harness/long.ts";
import { useInstance } from "#test/harness/use.ts";

const types = {
  json: "application/json",
  geojson: "application/geo+json",
  ndjson: "application/x-ndjson",
  csv: "text/csv",
} satisfies Record<Format, string>;
const formats = Object.keys(types) as Format[];
const codings = ["identity", "gzip", "br"] as const;
type Coding = (typeof codings)[number];
const unpack = (coding: Coding, body: Buffer): Buffer =>
  coding === "identity" ? body : coding === "gzip" ? gunzipSync(body) : brotliDecompressSync(body);

/** Where an answer for an area, and copies and pieces of a long list end, and one station beyond. */
const cuts = [3999, 4000, 4001];
const sizes = [
  ...cuts,
  ...[10_000, 10_001, 10_240, 10_241],
  ...sized([], [19_999, 20_000, 20_001, 20_241, 30_000, 30_001]),
];
const longestPage = 30_000;
const most = sizes.at(-1)!;
const area = "bbox=-90,-180,90,180";

describe("a country of 10,241 stations", () => {
  const instance = useInstance({ LOG_LEVEL: "silent" });
  let [key, publishable] = ["", ""];
  const sinceOf = (size: number): string =>
    new Date(madeAt - 1000 * (sizes.indexOf(size) * 100 + 150)).toISOString();
  let madeAt: number;

  before(async () => {
    const { db } = instance;
    const partner = await addPartner(db, { rpm: 100_000, daily: 1_000_000 });
    key = await addKey(db, partner);
    publishable = await addKey(db, partner, "publishable");
    // The name says in which of the sizes a station is, so that a search finds exactly so many.
    await rows(
      db,
      `insert into stations (id, source, lat, lon, brand, name, addr)
       select 's' || lpad(n::text, 6, '0'), 'test', 40 + n % 997 / 100.0, 40 + n / 997, 'Б',
         (select string_agg('to' || size, ' ') from unnest(?::int[]) as size where n < size), 'улица, ' || n
       from generate_series(0, ? - 1) as n`,
      [sizes, most],
    );
    // Those of the largest size alone have changed first: so many have changed since each of the times.
    for (const size of sizes.toReversed()) {
      const before = sizes[sizes.indexOf(size) - 1] ?? 0;
      await rows(
        db,
        "select feed_stamp(array(select id from stations where id >= ? and id < ?))",
        [before, size].map((n) => `s${String(n).padStart(6, "0")}`),
      );
      await rows(
        db,
        "update changes set at = server_now() - ? * interval '1 s' where station_id >= ? and station_id < ?",
        [
          (sizes.indexOf(size) + 1) * 100,
          ...[before, size].map((n) => `s${String(n).padStart(6, "0")}`),
        ],
      );
    }
    madeAt = Date.now();
  });
  const edge = useEdgeOn(instance);

  /** As the bytes come: fetch would unpack them, and hide how many there were. */
  const ask = (path: string, accept: string, coding: Coding, by = key) =>
    new Promise<{ headers: IncomingHttpHeaders; body: Buffer }>((resolve, reject) => {
      const headers = {
        ...{ Authorization: `Bearer ${by}`, Accept: accept, "Accept-Encoding": coding },
      };
      request(edge.url + path, { headers, agent: false }, (response) => {
        const all: Buffer[] = [];
        response.on("data", (piece: Buffer) => all.push(piece)).on("error", reject);
        response.on("end", () => {
          expect(response.statusCode, path).to.equal(200);
          expect(response.headers["content-encoding"] ?? "identity").to.equal(coding);
          resolve({ headers: response.headers, body: Buffer.concat(all) });
        });
      })
        .on("error", reject)
        .end();
    });
  /** Reads a list whole; gives its ids, and the cursor of the next page. */
  const listOf = async (path: string, format: Format, coding: Coding, by = key) => {
    const { headers, body } = await ask(path, types[format], coding, by);
    const length = headers["content-length"];
    if (length !== undefined) expect(Number(length), path).to.equal(body.length);
    const text = unpack(coding, body).toString();
    const said = headers["x-count"];
    const { items } = readWhole(types[format], text, typeof said === "string" ? said : null)!;
    const next = headers["x-next-cursor"] ?? /"next_cursor":"([^"]*)"/.exec(text)?.[1] ?? "";
    return { ids: items.map(({ id }) => id), next: String(next) };
  };
  const idsTo = (size: number, from = 0): string[] =>
    Array.from({ length: size - from }, (_, n) => `s${String(from + n).padStart(6, "0")}`);
  const expectIds = (ids: readonly string[], right: readonly string[], what: string): void => {
    // An array of thousands would be compared, and printed, for long.
    const isSame = ids.join() === right.join();
    expect(isSame, `${what}: ${ids.length} for ${right.length}`).to.equal(true);
  };

  const few: [Format, Coding, number][] = [
    ...sizes.map((size): [Format, Coding, number] => ["json", "identity", size]),
    ...([10_001, 10_240] as const).flatMap((size): [Format, Coding, number][] => [
      ["geojson", "identity", size],
      ["ndjson", "identity", size],
    ]),
    ...([
      ["json", "gzip", 10_001],
      ["json", "br", 10_240],
      ["geojson", "gzip", 10_001],
      ["ndjson", "br", 10_001],
      ["csv", "identity", 10_001],
      ["csv", "gzip", 10_240],
    ] satisfies [Format, Coding, number][]),
  ];
  const all = formats.flatMap((format) =>
    codings.flatMap((coding) =>
      [10_001, 20_241, 30_000].map((size): [Format, Coding, number] => [format, coding, size]),
    ),
  );

  it("is whole in every form and coding without a ready dump, by a filter and by a limit", async () => {
    for (const [n, [format, coding, size]] of sized(few, [...few, ...all]).entries()) {
      const filtered = `/stations/all?q=to${size}&limit=30000`;
      const limited = `/stations/all?limit=${Math.min(size, longestPage)}`;
      const path = n % 2 === 0 ? filtered : limited;
      const what = `${path} as ${format} in ${coding}`;
      const { ids, next } = await listOf(path, format, coding);
      expectIds(ids, idsTo(Math.min(size, longestPage)), what);
      const isAll = size <= longestPage && (path === filtered || size === most);
      expect(next === "", what).to.equal(isAll);
    }
  });

  it("goes on behind a page of each size", async () => {
    for (const size of sizes.filter((one) => one < most && one >= cuts.at(-1)!)) {
      const { next } = await listOf(`/stations/all?limit=${size}`, "json", "gzip");
      const path = `/stations/all?limit=30000&cursor=${encodeURIComponent(next)}`;
      const rest = await listOf(path, "ndjson", "identity");
      expectIds(rest.ids, idsTo(most, size), path);
      expect(rest.next).to.equal("");
    }
  });

  it("is whole as a delta of each size", async () => {
    for (const [n, size] of sizes.entries())
      for (const coding of sized<readonly Coding[]>([codings[n % 3]!], codings)) {
        const path = `/stations/delta?updated_since=${sinceOf(size)}`;
        const { ids } = await listOf(path, "json", coding);
        expectIds(ids.toSorted(), idsTo(size), `${path} in ${coding}`);
      }
  });

  it("is cut at 4000 in a rectangle, for both kinds of keys", async () => {
    for (const size of cuts)
      for (const by of [key, publishable])
        for (const [format, coding] of [
          ["json", "gzip"],
          ["geojson", "br"],
          ["ndjson", "identity"],
        ] as const) {
          const path = `/stations?${area}&q=to${size}`;
          const { headers, body } = await ask(path, types[format], coding, by);
          const text = unpack(coding, body).toString();
          const said = headers["x-count"];
          const read = readWhole(types[format], text, typeof said === "string" ? said : null)!;
          const truncated = headers["x-truncated"] ?? /"truncated":(\w+)/.exec(text)?.[1];
          const right = [Math.min(size, 4000), String(size > 4000)];
          expect([read.items.length, truncated], `${path} ${format}`).to.deep.equal(right);
        }
  });

  it("is whole from a dump of the country, and of a filter that is asked for again", async () => {
    const { clock } = edge.web.services;
    const paths = ["/stations/all?limit=30000", "/stations/all?q=to10001&limit=30000"];
    for (const path of [paths[1]!, paths[1]!]) await listOf(path, "json", "gzip");
    const maker = await createDumpMaker(instance, clock);
    try {
      const { dumps, model } = edge.web.services;
      const filters = { words: ["to10001"] };
      await until(
        async () => {
          await maker.make();
          const whole = () => model.whole(clock(), filters);
          return [
            dumps.complete(() => model.whole(clock()), clock())?.count,
            dumps.set({ filters, limit: 30_000 }, whole, clock())?.count,
          ];
        },
        (counts) => counts.join() === `${most},10001`,
      );
      for (const [path, size] of [
        [paths[0]!, most],
        [paths[1]!, 10_001],
      ] as const)
        for (const coding of codings) {
          const { ids } = await listOf(path, "json", coding);
          expectIds(ids, idsTo(Math.min(size, longestPage)), `${path} in ${coding}`);
        }
    } finally {
      await maker.stop();
    }
  });
});

describe("a stream of changes", () => {
  const edge = useEdge();
  const base = Date.now() - 3600_000;
  let key = "";
  let round = 0;
  before(async () => {
    key = await addKey(edge.db, await addPartner(edge.db, { rpm: 100_000, daily: 1_000_000 }));
  });
  /** Changes so many stations, a minute after those of the round before; gives a time between. */
  const change = (count: number): string => {
    round += 1;
    const at = base + round * 60_000;
    const { model, clock } = edge.web.services;
    const changed = Array.from({ length: count }, (_, n) => ({
      ...{ id: `r${round}-${n}`, lat: 50, lon: 30 + n / 1000, brand: "", name: "", addr: "" },
      ...{ ...noSales, seq: round, at, removed: false, state: emptyState, chance: null },
    }));
    model.apply(changed, clock());
    return new Date(at - 30_000).toISOString();
  };
  const expectEvents = async (reader: StreamReader, count: number): Promise<void> => {
    await until(
      async () => reader.stations().size,
      (size) => size >= count,
    );
    const found = reader.events().map(({ data }) => [data.count, data.stations.length]);
    const right = [...slices(Array.from({ length: count }), 500)].map(({ length }) => length);
    expect(found).to.deep.equal(right.map((length) => [length, length]));
  };

  for (const count of [1, 499, 500, 501, 1000, 1001])
    it(`has ${count} changes in events of 500 at most, of before and of now`, async () => {
      const since = change(count);
      const before = await openStream(edge.origin, key, { query: `?updated_since=${since}` });
      await expectEvents(before, count);
      before.close();
      const now = await openStream(edge.origin, key);
      change(count);
      await expectEvents(now, count);
      now.close();
    });
});
