import { expect } from "chai";
import { hourMs } from "#src/domain/units.ts";
import { addKey, addPartner, useEdgeOn } from "#test/api/edge.ts";
import { serving, writeStations } from "#test/api/reads-country.ts";
import { writeChances } from "#test/flow/chances.ts";
import { type Answer, type Client, createClient, until } from "#test/flow/client.ts";
import { useInstance } from "#test/harness/use.ts";

const box = "/stations?bbox=55.7,37.5,55.8,37.7";
/** North of the centre of that box by so many thousandths of a degree. */
const at = (thousandths: number) => ({ lat: 55.75 + thousandths / 1000, lon: 37.6 });

describe("the chance of fuel in reads (decisions 23.17, 23.18)", () => {
  const instance = useInstance({ LOG_LEVEL: "silent" });
  const startedAt = Date.now();
  let now = startedAt;
  const clock = (): number => now;
  const webs = [useEdgeOn(instance, { clock }), useEdgeOn(instance, { clock })] as const;
  let key: string;
  let secret: Client;
  let widgets: Client[];

  before(async () => {
    const limits = { rpm: 100_000, daily: 1_000_000, cache_ttl_s: 3600 };
    const partner = await addPartner(instance.db, limits);
    key = await addKey(instance.db, partner);
    secret = createClient(webs[0].origin, key);
    const publishable = await addKey(instance.db, partner, "publishable");
    widgets = webs.map(({ origin }) => createClient(origin, publishable));
    const yes = serving("yes", startedAt - hourMs, { fuelsNow: ["95"] });
    const no = serving("no", startedAt - hourMs);
    await writeStations(instance.db, [
      { id: "sure", ...at(1), state: yes },
      { id: "good-far", ...at(4), state: yes },
      { id: "good-near", ...at(2) },
      { id: "empty", ...at(0), state: no },
      { id: "unknown", ...at(3), state: yes },
    ]);
    const chances = { sure: 100, "good-far": 70, "good-near": 70, empty: 0, unknown: null };
    await writeChances(instance.db, new Map(Object.entries(chances)));
    for (const client of [secret, ...widgets])
      await until(
        () => client.get(`${box}&chance_min=100`),
        ({ body }) => body.count === 1,
      );
  });

  type Station = { id: string; fuel: { chance?: number } };
  const ids = ({ body }: Answer): string[] => (body.stations as Station[]).map(({ id }) => id);
  const chances = (stations: Station[]): Record<string, number | undefined> =>
    Object.fromEntries(stations.map(({ id, fuel }) => [id, fuel.chance]));
  const expected = {
    ...{ sure: 100, "good-far": 70, "good-near": 70 },
    ...{ empty: 0, unknown: undefined },
  };

  it("stands in every form and every read, and is left out where it is unknown", async () => {
    const since = new Date(startedAt - hourMs).toISOString();
    for (const path of [box, "/stations/all", `/stations/delta?updated_since=${since}`]) {
      const { body } = await secret.get(path);
      expect(chances(body.stations), path).to.deep.equal(expected);
    }
    const unknown = (await secret.get("/stations/unknown")).body.station;
    expect(unknown.fuel).not.to.have.property("chance");
    expect((await secret.get("/stations/empty")).body.station.fuel.chance).to.equal(0);
    const { body } = await secret.get("/stations.geojson?bbox=55.7,37.5,55.8,37.7");
    type Feature = { id: string; properties: { fuel: Station["fuel"] } };
    const features = (body.features as Feature[]).map(({ id, properties }) => ({
      ...{ id, fuel: properties.fuel },
    }));
    expect(chances(features)).to.deep.equal(expected);
    const headers = { Authorization: `Bearer ${key}` };
    const csv = await fetch(`${webs[0].url}/stations/all.csv`, { headers });
    const lines = (await csv.text()).trimEnd().split("\n");
    const cells = lines.map((line) => [line.split(",")[0], line.split(",").at(-2)]);
    expect(cells).to.deep.equal([
      ["id", "chance"],
      ["empty", "0"],
      ["good-far", "70"],
      ["good-near", "70"],
      ["sure", "100"],
      ["unknown", ""],
    ]);
  });

  it("filters wherever the status does; stations of which it is unknown never pass", async () => {
    const line = {
      type: "LineString",
      coordinates: [
        [37.6, 55.7],
        [37.6, 55.8],
      ],
    };
    const passing = async (filter: string): Promise<string[][]> => {
      const answers = [
        await secret.get(`${box}&${filter}`),
        await widgets[1]!.get(`${box}&${filter}`),
        await secret.get(`/stations?lat=55.75&lon=37.6&${filter}`),
        await secret.get(`/stations?ids=${Object.keys(expected).join()}&${filter}`),
        await secret.get(`/stations/all?${filter}`),
        await secret.post(`/stations/along?${filter}`, { line }),
      ];
      return answers.map((answer) => ids(answer).sort());
    };
    const six = (some: string[]): string[][] => Array.from({ length: 6 }, () => some);
    const good = ["good-far", "good-near", "sure"];
    expect(await passing("chance_min=0")).to.deep.equal(six(["empty", ...good]));
    expect(await passing("chance_min=66")).to.deep.equal(six(good));
    expect(await passing("chance_min=70")).to.deep.equal(six(good));
    expect(await passing("chance_min=71")).to.deep.equal(six(["sure"]));
    expect(await passing("chance_min=70&fuel=95")).to.deep.equal(six(["good-far", "sure"]));
    expect(await passing("chance_min=70&status=nodata")).to.deep.equal(six(["good-near"]));
  });

  it("refuses what is no percentage, and an order that there is not", async () => {
    for (const value of ["-1", "101", "70.5", "likely", ""]) {
      for (const path of [`${box}&`, "/stations/all?"]) {
        const { status, body } = await secret.get(`${path}chance_min=${value}`);
        expect([status, body.type.split("/").at(-1)]).to.deep.equal([422, "validation-failed"]);
        expect(body.detail[0].loc).to.deep.equal(["query", "chance_min"]);
      }
    }
    const { status, body } = await secret.get(`${box}&sort=likely`);
    expect([status, body.detail[0].loc[1]]).to.deep.equal([422, "sort"]);
    const both = await secret.get("/stations?ids=sure&sort=chance");
    expect(both.status).to.equal(422);
  });

  it("reaches cached rectangles at once, and stays when a status ends", async () => {
    const filtered = `${box}&chance_min=90`;
    for (const client of widgets)
      await until(
        () => client.get(filtered),
        ({ headers }) => headers.get("x-service-cache") === "hit",
      );
    await writeChances(instance.db, new Map([["unknown", 95]]));
    for (const client of widgets)
      await until(
        () => client.get(filtered),
        (answer) => ids(answer).includes("unknown"),
      );
    now = startedAt + 24 * hourMs;
    const { fuel } = (await secret.get("/stations/unknown")).body.station;
    expect(fuel).to.include({ status: "nodata", chance: 95 });
    await writeChances(instance.db, new Map([["unknown", null]]));
    await until(
      () => secret.get("/stations/unknown"),
      ({ body }) => !("chance" in body.station.fuel),
    );
  });
});
