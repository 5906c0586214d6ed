import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect } from "chai";
import fc from "fast-check";
import { digestOf } from "#client/digest.ts";
import type { Station } from "#client/types.ts";
import { compressPieces } from "#api/http/negotiation.ts";
import { createListPacker, presentList } from "#api/stations/format.ts";
import { eventOf } from "#api/stations/event-body.ts";
import { createDumpBuilder } from "#snapshots/dumps/dump.ts";
import { type Format, forms, type ListRest, wholeList, written } from "#snapshots/model/forms.ts";
import { createReadModel, type ReadModel } from "#snapshots/model/model.ts";
import type { Answer } from "#snapshots/model/queries.ts";
import type { FeedRow } from "#src/feed/feed.ts";
import { remembered } from "#src/infrastructure/lists.ts";
import { lifetimeMs, row, startMs } from "#test/snapshots/arbitraries.ts";
import { readWhole } from "#test/harness/lists.ts";
import { sized } from "#test/harness/long.ts";

const types = {
  json: "application/json",
  geojson: "application/geo+json",
  ndjson: "application/x-ndjson",
  csv: "text/csv",
} satisfies Record<Format, string>;
const formats = Object.keys(types) as Format[];
const unpack = {
  identity: (body: Buffer) => body,
  gzip: (body: Buffer) => gunzipSync(body),
  br: (body: Buffer) => brotliDecompressSync(body),
};
type Coding = keyof typeof unpack;

/** Stations with any content, of which a test takes as many as it wants. */
const most = 1001;
const drawn = fc.sample(row(1_000_000), { numRuns: most, seed: 7 });
const rows = drawn.map((one, n): FeedRow => ({
  ...one,
  id: `n${1000 + n}`,
  seq: n + 1,
  removed: false,
}));
const now = startMs + 1_000_000;
const modelOf = (some: readonly FeedRow[], plainBytes = Infinity): ReadModel => {
  const model = createReadModel({ lifetimeMs, plainBytes });
  model.apply(some, now);
  return model;
};
/** A model of the first stations, made once. */
const modelOfFirst = remembered((count) => modelOf(rows.slice(0, Number(count))));
/** The first stations by id, and those as a partner gets them one by one. */
const first = (model: ReadModel, count: number) =>
  model.page({ after: "", limit: count, now }) satisfies Answer;
const model = modelOf(rows);
const single = rows.map(
  ({ id }) => JSON.parse(model.station(id, now)!.fragment.toString()) as Station,
);
const restOf = (count: number): ListRest => ({
  ...{ count, asOfMs: startMs, lifetimeMs, truncated: false, nextCursor: "" },
});

/** A station in a form for exports, where an empty time is null (decisions 17.8). */
const exported = (station: Station) => {
  const { fuel } = station;
  return { ...station, fuel: { ...fuel, updated: fuel.updated === "" ? null : fuel.updated } };
};

/** Reads a list as a caller does, and compares it with the stations that should stand in it, in any order. */
function expectList(format: Format, body: Buffer, right: readonly Station[]): void {
  const count = format === "ndjson" || format === "csv" ? String(right.length) : null;
  const { items } = readWhole(types[format], body.toString(), count)!;
  const found = items.map((item) => {
    if (format !== "geojson") return item;
    const { geometry, properties } = item as unknown as {
      geometry: { coordinates: [number, number] };
      properties: object;
    };
    const [lon, lat] = geometry.coordinates;
    return { id: item.id, lat, lon, ...properties };
  });
  const ordered = (list: readonly { id: string }[]) =>
    list.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const shown = (list: readonly { id: string }[]): string =>
    JSON.stringify(format === "csv" ? list.map(({ id }) => id).sort() : ordered(list));
  const wanted = format === "json" ? right : right.map(exported);
  expect(shown(found) === shown(wanted), `${found.length} for ${right.length}`).to.equal(true);
}

const collect = async (pieces: AsyncIterable<Buffer>): Promise<Buffer> => {
  const all: Buffer[] = [];
  // A piece holds only until the next one is asked for.
  for await (const piece of pieces) all.push(Buffer.from(piece));
  return Buffer.concat(all);
};

/** Counts around each multiple of a size. */
const around = (...sizes: number[]): number[] =>
  [
    ...new Set(
      sizes.flatMap((size) => [1, 2, 3].flatMap((n) => [n * size - 1, n * size, n * size + 1])),
    ),
  ].filter((count) => count >= 0);

describe("lists at every size", () => {
  for (const format of formats)
    it(`are whole as ${format} in every coding, wherever pieces and copies end`, async () => {
      const sizes = fc.record({
        perCopy: fc.integer({ min: 1, max: 12 }),
        perPiece: fc.integer({ min: 1, max: 12 }),
      });
      const plan = sizes.chain(({ perCopy, perPiece }) =>
        fc.record({
          perCopy: fc.constant(perCopy),
          perPiece: fc.constant(perPiece),
          count: fc.constantFrom(0, ...around(perCopy, perPiece)),
          coding: fc.constantFrom<Coding>("identity", "gzip", "br"),
        }),
      );
      const property = fc.asyncProperty(plan, async ({ count, coding, ...some }) => {
        const answer = first(model, count);
        const rest = restOf(count);
        const pieces = () => written(forms[format], answer.stations(), rest, undefined, some);
        const body =
          coding === "identity"
            ? await collect(pieces())
            : Buffer.concat(await compressPieces(pieces(), coding));
        const plain = unpack[coding](body);
        expect(plain.equals(wholeList(answer, rest, format))).to.equal(true);
        expectList(format, plain, single.slice(0, count));
      });
      await fc.assert(property, { numRuns: sized(80, 1000) });
    });

  for (const format of formats)
    it(`are whole as ${format}, put together from deflated blocks and runs between them`, async () => {
      const lists = createListPacker();
      const plan = fc.record({
        count: fc.constantFrom(0, ...around(1, 64, 128, 200)),
        // Some of the stations in the area, so that blocks stand whole or in runs, alone or together.
        limit: fc.constantFrom(0, 1, 63, 64, 65, 128, 129, 1000),
        sort: fc.constantFrom(undefined, "distance" as const),
      });
      const property = fc.asyncProperty(plan, async ({ count, limit, sort }) => {
        const some = modelOfFirst(String(count));
        const idOf = (station: number): string => rows[station]!.id;
        const area = { kind: "all" } as const;
        const answer = some.query({ area, limit, now, ...(sort === undefined ? {} : { sort }) });
        const rest = { ...restOf(answer.count), truncated: answer.truncated };
        const etag = JSON.stringify([count, limit, sort, format]);
        const packed = gunzipSync(Buffer.concat(await lists.gzip({ etag, answer, rest, format })));
        expect(answer.count).to.equal(Math.min(count, limit));
        const { blocks, slots } = answer.stations();
        const chosen = new Set(slots.map((slot, i) => idOf(blocks[i]!.stations[slot]!)));
        const right = single.filter(({ id }) => chosen.has(id));
        expectList(format, packed, right);
        expect(packed.length).to.equal(wholeList(answer, rest, format).length);
        if (format === "json")
          expectList(format, Buffer.concat(presentList(answer.pieces(), rest)), right);
      });
      await fc.assert(property, { numRuns: sized(25, 300) });
    });

  it("are whole in a dump, and page by page", async () => {
    for (const count of [0, 1, 255, 256, 257, 513]) {
      const some = modelOfFirst(String(count));
      for (const limit of new Set([Math.max(1, count - 1), Math.max(1, count), count + 1])) {
        const source = { model: some, seq: 1, asOfMs: startMs, now, lifetimeMs };
        const { gzip, br } = await createDumpBuilder({ filters: {}, limit }).build(source, true);
        const right = single.slice(0, Math.min(count, limit));
        for (const plain of [gunzipSync(gzip), brotliDecompressSync(br)]) {
          expectList("json", plain, right);
          const { next_cursor: next } = JSON.parse(plain.toString());
          expect(next === "", `${count} by ${limit}`).to.equal(count <= limit);
        }
      }
    }
  });

  it("have each station once on their pages, and a next page only where more follow", () => {
    const plan = fc
      .integer({ min: 1, max: 40 })
      .chain((limit) =>
        fc.record({ limit: fc.constant(limit), count: fc.constantFrom(0, ...around(limit)) }),
      );
    fc.assert(
      fc.property(plan, ({ limit, count }) => {
        const some = modelOfFirst(String(count));
        const ids: string[] = [];
        let after = "";
        do {
          const page = some.page({ after, limit, now });
          const body = Buffer.concat(presentList(page.pieces(), restOf(page.count)));
          const { items } = readWhole(types.json, body.toString(), null)!;
          ids.push(...items.map(({ id }) => id));
          expect(items.length).to.equal(page.next === "" ? page.count : limit);
          after = page.next;
        } while (after !== "");
        expect(ids).to.deep.equal(rows.slice(0, count).map(({ id }) => id));
      }),
      { numRuns: sized(40, 500) },
    );
  });

  it("are whole in an event of a stream", () => {
    for (const count of [0, 1, 2, 128, 129, 500]) {
      const numbers = first(model, count).stations();
      const stations = numbers.slots.map((slot, i) => numbers.blocks[i]!.stations[slot]!);
      const event = eventOf(model.changesOf(stations, now), startMs, lifetimeMs).toString();
      readWhole("text/event-stream", event, null);
      const { stations: shown, removed } = JSON.parse(/^data: (.*)$/m.exec(event)![1]!);
      expect([shown, removed]).to.deep.equal([single.slice(0, count), []]);
    }
  });

  it("have the digest that the shipped client works out, a thousand at a turn", async () => {
    for (const count of [0, 1, 999, 1000, 1001]) {
      const { sum } = modelOfFirst(String(count)).whole(now);
      expect(await digestOf(single.slice(0, count))).to.equal(sum);
    }
  });
});
