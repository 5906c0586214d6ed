import { knownHours } from "#test/oracle/hours.ts";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import fc from "fast-check";
import { demoCities } from "#demo/country/cities.ts";
import { createRandom } from "#demo/country/random.ts";
import { makeStations } from "#demo/country/stations.ts";
import type { Dump } from "#snapshots/dumps/dump.ts";
import type { Whole } from "#snapshots/dumps/dump.ts";
import type { LatestDump } from "#snapshots/dumps/latest-dump.ts";
import { createDb, type Db, rows } from "#src/infrastructure/db.ts";
import { formatTime, parseTime } from "#src/domain/time.ts";
import { saveStations } from "#src/import/apply-stations.ts";
import { importCities } from "#src/import/import-cities.ts";
import { importStations, usualImport } from "#test/harness/import-stations.ts";
import { addKey, addPartner, type Edge, startEdge, startInstance } from "#test/api/edge.ts";
import { until } from "#test/flow/client.ts";
import { createDumpMaker, type DumpMaker } from "#test/flow/dump-maker.ts";
import { drawStates, loadKnown } from "#test/flow/read-country.ts";
import { type ReadForm, type ReadRequest, readRequests } from "#test/flow/read-requests.ts";
import type { TestInstance } from "#test/harness/instance.ts";
import { createReads, type PlainCity, rankCities, type Shown } from "#test/oracle/reads.ts";
import { itLong, sized } from "#test/harness/long.ts";

const stationsMax = 4000;
const accepts: Record<ReadForm, string> = {
  json: "application/json",
  geojson: "application/geo+json",
  ndjson: "application/x-ndjson",
};
const runs = Number(process.env["RUNS"] ?? sized(20, 2000));
const real = fileURLToPath(new URL("../../../shared/data/", import.meta.url));

interface Rest {
  count: number;
  as_of: string;
  stale_after_hours: number;
  truncated: boolean;
  next_cursor?: string | null;
  removed?: string[];
}

/** An answer read back into the terms of the contract, whatever its form. */
interface Read {
  status: number;
  etag: string;
  stations: Shown[];
  rest: Rest;
}

const texts = Object.keys(knownHours);

describe("reads, against going through all stations one by one", function () {
  const countries: [name: string, fill: (db: Db) => Promise<void>][] = [
    [
      "the demo country",
      async (db) => {
        const stations = makeStations(createRandom(7), 4600);
        // Some stand at one place, so that ties have to be broken.
        const crowded = stations.map((one, n) => {
          const { lat, lon } = stations[n - (n % 5)] ?? one;
          const opening_hours = texts[n % texts.length]!;
          return { ...one, opening_hours, ...(n % 10 < 5 ? {} : { lat, lon }) };
        });
        await saveStations(db, "demo", { stations: crowded }, false, () => {});
        const cities = demoCities.map(({ name, region, lat, lon, population }, n) => ({
          ...{ id: `c${n}`, source: "demo", name, region, lat, lon, population },
        }));
        await db("cities").insert(cities);
      },
    ],
    [
      "real stations",
      async (db) => {
        await importCities(db, { ...usualImport, path: `${real}ru_cities_hflabs.csv` });
        await importStations(db, { path: `${real}ru_osm_fuel_16_cities.json` });
        // Hours that the oracle can read.
        await db.raw(
          "update stations set opening_hours = (?::text[])[1 + abs(hashtext(id)) % ?::integer]",
          [texts, texts.length] as never,
        );
      },
    ],
  ];

  for (const [name, fill] of countries)
    describe(name, () => {
      let instance: TestInstance;
      let webs: Edge[] = [];
      let key: string;
      let now = 0;
      let reads: ReturnType<typeof createReads>;
      let cities: PlainCity[];
      let dumps: DumpMaker;
      /** Answers from dumps that say what the model says, by process. */
      const fromDumps = [0, 0];

      before(async function () {
        if (name === "real stations" && !existsSync(real)) {
          console.log("      skipped: no folder ../shared/data with real extracts");
          this.skip();
        }
        instance = await startInstance({ SLOT_MS: "400" });
        const db = createDb(instance.config, "setup");
        key = await addKey(db, await addPartner(db, { rpm: 100_000, daily: 1_000_000 }));
        await fill(db);
        await drawStates(db, createRandom(3), Date.now());
        reads = createReads(await loadKnown(db));
        cities = await rows<PlainCity>(db, "select name, region, lat, lon, population from cities");
        await db.destroy();
        // Time stands still but where the test lets it pass, so that both sides look at the same moment.
        now = Date.now();
        reads.passTo(now);
        webs = [];
        for (let n = 0; n < 2; n++)
          webs.push(await startEdge(instance.config, { clock: () => now }));
        for (const [n, { web }] of webs.entries()) countDumps(web.services.dumps, n);
        dumps = await createDumpMaker(instance, () => now);
      });
      after(async () => {
        await dumps?.stop();
        for (const web of webs) await web.stop();
        await instance?.drop();
      });

      const countDumps = (held: LatestDump, n: number): void => {
        const count = (dump: Dump | null, { sum }: Whole): Dump | null => {
          if (dump?.sum === sum) fromDumps[n] = (fromDumps[n] ?? 0) + 1;
          return dump;
        };
        const { complete, set } = held;
        held.complete = (of, at) => count(complete(of, at), of());
        held.set = (which, of, at) => count(set(which, of, at), of());
      };

      const ask = (
        web: number,
        path: string,
        form: ReadForm,
        headers: Record<string, string> = {},
      ) =>
        fetch((webs[web] as Edge).url + path, {
          headers: { Authorization: `Bearer ${key}`, Accept: accepts[form], ...headers },
        });
      const get = async (web: number, path: string, form: ReadForm): Promise<Read> => {
        const response = await ask(web, path, form);
        const text = await response.text();
        expect(response.status, text.slice(0, 500)).to.equal(200);
        const etag = response.headers.get("etag") ?? "";
        return { status: 200, etag, ...readers[form](text, response.headers) };
      };

      /** The other process says 304 to it, in a list and in the strong form too. */
      const askAgain = async (
        { web, form }: ReadRequest,
        path: string,
        etag: string,
      ): Promise<void> => {
        for (const list of [etag, `"x", ${etag.slice(2)} , W/"y"`]) {
          const answer = await ask(1 - web, path, form, { "If-None-Match": list });
          expect(answer.status).to.equal(304);
          expect(answer.headers.get("etag")).to.equal(etag);
          expect(parseTime(answer.headers.get("x-as-of") ?? "")).to.be.at.most(now);
        }
        const other = await ask(1 - web, path, form, { "If-None-Match": `W/"y"` });
        expect(other.status).to.equal(200);
        await other.arrayBuffer();
      };

      const check = async (request: ReadRequest): Promise<void> => {
        const { what, web, form, again } = request;
        if (what.kind === "area") {
          const { stations, rest, etag } = await get(web, what.path, form);
          const near = reads.within(what.place, what.wanted);
          const nearest = near.slice(0, stationsMax);
          const expected = what.sort === "chance" ? likeliestFirst(nearest) : nearest;
          if (what.sort !== "") expectSame(stations, expected);
          else expectSame(byId(stations), byId(expected));
          const truncated = near.length > stationsMax;
          expect(rest).to.include({ count: expected.length, stale_after_hours: 24, truncated });
          expect(parseTime(rest.as_of)).to.be.at.most(now - 1000);
          if (again) await askAgain(request, what.path, etag);
        } else if (what.kind === "all") {
          const expected = reads.everywhere(what.wanted);
          const got: Shown[] = [];
          const times = new Set<unknown>();
          for (let cursor = "", more = true; more;) {
            const path = `${what.path}&cursor=${encodeURIComponent(cursor)}`;
            const page = await get(times.size === 0 ? web : 1 - web, path, form);
            if (again) await askAgain(request, path, page.etag);
            cursor = page.rest.next_cursor ?? "";
            more = cursor !== "";
            expect(page.stations.length).to.be.at.most(what.limit);
            expect(page.rest.count).to.equal(page.stations.length);
            if (more) expect(page.stations.length).to.equal(what.limit);
            got.push(...page.stations);
            times.add(page.rest.as_of);
          }
          expectSame(got, expected);
          expect(times.size).to.equal(1);
        } else if (what.kind === "delta") {
          const since = formatTime(now - what.backMs);
          const path = `/stations/delta?updated_since=${encodeURIComponent(since)}`;
          const { stations, rest, etag } = await get(web, path, "json");
          const expected = reads.changed(parseTime(since) as number);
          expectSame(byId(stations), expected.stations);
          expect(rest.removed?.toSorted()).to.deep.equal(expected.removed);
          expect(rest.count).to.equal(expected.stations.length);
          if (again) await askAgain({ ...request, form: "json" }, path, etag);
        } else if (what.kind === "one") {
          const response = await ask(web, `/stations/${what.id}`, "json");
          const { station = null } = (await response.json()) as { station?: Shown };
          expect(station).to.deep.equal(reads.one(what.id));
        } else if (what.kind === "cities") {
          const ranked = rankCities(cities, what.q);
          const response = await ask(web, what.path, "json");
          const body = (await response.json()) as {
            cities: (PlainCity & { zoom: number })[];
            count: number;
            total: number;
          };
          const wanted = ranked.slice(what.offset, what.offset + what.limit);
          expect(body).to.include({ count: wanted.length, total: ranked.length });
          const plain = body.cities.map(({ zoom, ...city }) => {
            const size = city.population;
            expect(zoom).to.equal(size < 250_000 ? 12 : size <= 1_000_000 ? 11 : 10);
            return city;
          });
          // Between equals any order will do, as long as nobody comes twice.
          const rankOf = new Map(ranked.map(({ city, rank }) => [JSON.stringify(city), rank]));
          const texts = plain.map((city) => JSON.stringify(city));
          expect(new Set(texts).size).to.equal(texts.length);
          expect(texts.map((text) => rankOf.get(text))).to.deep.equal(
            wanted.map(({ rank }) => rank),
          );
        } else {
          const response = await ask(web, what.path, "json");
          expect(response.status).to.equal(404);
          expect(await response.text()).to.include("city-not-found");
        }
      };

      it(`agree on ${runs} random requests in all forms, from two processes, while time passes`, async () => {
        const requests = readRequests(reads.everywhere(anything), cities);
        const property = fc.asyncProperty(requests, async (request) => {
          now += request.stepMs;
          reads.passTo(now);
          await check(request);
        });
        const seed = Number(process.env["SEED"] ?? 20_260_501);
        await fc.assert(property, { numRuns: runs, seed, endOnFailure: true });
      });

      // Of dumps real stations show nothing more than the demo country's.
      const itOf = name === "real stations" ? itLong : it;
      itOf("agree when the snapshots role's dumps answer, while time passes", async () => {
        // What is open changes within the minute: no dump answers it.
        const requests = readRequests(reads.everywhere(anything), cities).filter(
          ({ what, form }) => what.kind === "all" && what.wanted.opened === null && form === "json",
        );
        const asked = fc.sample(requests, { numRuns: sized(4, 30), seed: 20_260_502 });
        for (const stepMs of [0, 90_000, 3600_000]) {
          now += stepMs;
          reads.passTo(now);
          // A set is noted in Redis with the next look at the dumps, and its dump found with the one after.
          await until(
            async () => {
              await dumps.make();
              let others = 0;
              for (const request of asked) {
                const before = [...fromDumps];
                for (const web of [0, 1])
                  await (await ask(web, pathOf(request), "json")).arrayBuffer();
                if (!fromDumps.every((count, web) => count > before[web]!)) others += 1;
              }
              return others;
            },
            (others) => others === 0,
          );
          for (const request of asked) await check(request);
        }
      });
    });
});

const anything = {
  words: [],
  statuses: [],
  grades: [],
  brand: "",
  hasPrice: false,
  queues: [],
  freshH: null,
  sold: [],
  opened: null,
  chanceMin: null,
};

const pathOf = ({ what }: ReadRequest): string => (what.kind === "all" ? what.path : "");

/** As texts first: comparing thousands of stations field by field takes longer than all the rest. */
function expectSame(got: readonly Shown[], expected: readonly Shown[]): void {
  if (JSON.stringify(got) !== JSON.stringify(expected)) expect(got).to.deep.equal(expected);
}

const likeliestFirst = (stations: readonly Shown[]): Shown[] =>
  stations.toSorted((a, b) => (b.fuel.chance ?? -1) - (a.fuel.chance ?? -1));

const byId = (stations: readonly Shown[]): Shown[] =>
  stations.toSorted((a, b) => (a.id < b.id ? -1 : 1));

type Reader = (text: string, headers: Headers) => Pick<Read, "stations" | "rest">;
const readers: Record<ReadForm, Reader> = {
  json: (text) => {
    const { stations, ...rest } = JSON.parse(text) as Rest & { stations: Shown[] };
    return { stations, rest };
  },
  geojson: (text) => {
    const { type, features, ...rest } = JSON.parse(text) as Rest & {
      type: string;
      features: Feature[];
    };
    expect(type).to.equal("FeatureCollection");
    const stations = features.map(({ id, geometry, properties }) => {
      const [lon, lat] = geometry.coordinates;
      return asListed({ id, lat, lon, ...properties });
    });
    return { stations, rest };
  },
  ndjson: (text, headers) => ({
    stations: text
      .split("\n")
      .slice(0, -1)
      .map((line) => asListed(JSON.parse(line) as Shown)),
    rest: {
      count: Number(headers.get("x-count")),
      as_of: headers.get("x-as-of") ?? "",
      stale_after_hours: Number(headers.get("x-stale-after-hours")),
      truncated: headers.get("x-truncated") === "true",
      next_cursor: headers.get("x-next-cursor"),
    },
  }),
};

/** GeoJSON and lines have null where a list of JSON has an empty time. */
const asListed = (station: Shown): Shown => ({
  ...station,
  fuel: { ...station.fuel, updated: station.fuel.updated ?? "" },
});

interface Feature {
  id: string;
  geometry: { coordinates: [lon: number, lat: number] };
  properties: Omit<Shown, "id" | "lat" | "lon">;
}
