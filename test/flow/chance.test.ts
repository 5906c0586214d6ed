import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { type Mirror, mirror } from "#client/mirror.ts";
import { createRandom } from "#demo/country/random.ts";
import { rows } from "#src/infrastructure/db.ts";
import { formatTime } from "#src/domain/time.ts";
import { addKey } from "#test/api/edge.ts";
import { hourMs, minuteMs } from "#src/domain/units.ts";
import { marksOfStations } from "#src/marks/chance-marks.ts";
import { writeChances } from "#test/flow/chances.ts";
import { createClient, until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { useStage } from "#test/flow/stage.ts";
import { createStationReader } from "#workers/webhooks/event.ts";

const stations = 60;
const rounds = 12;

/** A station's chance by its id; null where it is unknown. */
type Chances = Record<string, number | null>;
type Station = { id: string; fuel: { chance?: number } };

const chancesOf = (list: Iterable<Station>): Chances =>
  Object.fromEntries(
    [...list].map(({ id, fuel }): [string, number | null] => [id, fuel.chance ?? null]),
  );

const isNew = "import sys; sys.exit(sys.version_info < (3, 9))";
const hasPython = spawnSync("python3", ["-c", isNew]).status === 0;
/** Brings a mirror with this file up to date and prints its chances. */
const program = `
import json, sys
from fuelmark_mirror import Mirror
mirror = Mirror(sys.argv[1], sys.argv[2], path=sys.argv[3])
mirror.refresh()
print(json.dumps({one["id"]: one["fuel"].get("chance") for one in mirror.stations.values()}))
`;

describe("flow: chances of fuel reach every reader", function () {
  const settings = { SLOT_MS: "1000", DUMP_MAX_AGE_MS: "1000", STREAM_HEARTBEAT_MS: "300" };
  const roles = ["web", "web", "marks", "snapshots", "clock"];
  const { instance, country, webs, clients, pages } = useStage(stations, roles, settings);
  const folder = mkdtempSync(join(tmpdir(), "fuelmark-chances-"));
  let mirrors: Mirror[] = [];

  after(async () => {
    await Promise.all(mirrors.map((one) => one.stop()));
    rmSync(folder, { recursive: true, force: true });
  });

  /** What the column holds, of the stations that are served. */
  const stored = async (): Promise<Chances> => {
    const found = await rows<{ id: string; chance: number | null }>(
      country.db,
      "select s.id, t.chance from stations s left join station_status t on t.station_id = s.id",
    );
    return Object.fromEntries(found.map(({ id, chance }) => [id, chance]));
  };
  const python = async (n: number): Promise<Chances> => {
    const args = ["-c", program, webs[n]!.baseUrl, country.secret, join(folder, "copy.json")];
    const env = { ...process.env, PYTHONPATH: "client/python", PYTHONDONTWRITEBYTECODE: "1" };
    return JSON.parse((await promisify(execFile)("python3", args, { env })).stdout) as Chances;
  };

  it("the same from both processes: dump, delta, forms, rectangles, mirrors by poll, stream and in Python", async () => {
    const random = createRandom(7);
    // All stations are younger, however long the set-up took.
    const since = formatTime(Date.now() - hourMs);
    const key = country.secret;
    mirrors = webs.flatMap(({ baseUrl }) => [
      mirror({ baseUrl, key, pollMs: 300 }),
      mirror({ baseUrl, key, pollMs: 300, stream: true }),
    ]);
    await Promise.all(mirrors.map((one) => one.ready()));
    if (hasPython) await python(0);
    for (let round = 0; round < rounds; round++) {
      const some = Array.from({ length: 8 }, () => random.int(0, stations - 1));
      const chances = some.map((n): [string, number | null] => [
        placeOf(n).id,
        random.chance(0.2) ? null : 5 * random.int(0, 20),
      ]);
      const place = placeOf(random.int(0, stations - 1));
      await Promise.all([
        writeChances(country.db, new Map(chances)),
        clients[round % 2]!.mark(place, `driver-${round}`, { status: "yes", fuels: ["95"] }),
      ]);
    }
    const expected = await stored();
    expect(Object.values(expected).filter((one) => one !== null)).not.to.have.length(0);
    const sorted = JSON.stringify(Object.entries(expected).sort());
    const agrees = (read: () => Promise<Chances> | Chances): Promise<unknown> =>
      until(
        async () => Object.entries(await read()).sort(),
        (got) => JSON.stringify(got) === sorted,
      );
    const fromDelta = async (n: number): Promise<Chances> => {
      const { body } = await clients[n]!.get(`/stations/delta?updated_since=${since}`);
      return chancesOf(body.stations as Station[]);
    };
    const fromList = async (path: string, client = clients[0]!): Promise<Chances> =>
      chancesOf((await client.get(path)).body.stations as Station[]);
    for (const n of [0, 1]) {
      await agrees(() => fromDelta(n));
      await agrees(() => fromList("/stations/all?limit=30000", clients[n]));
      await agrees(() => fromList("/stations?bbox=54,36,56,38&sort=chance", clients[n]));
      await agrees(() => fromList("/stations?bbox=54,36,56,38", pages[n]));
    }
    for (const one of mirrors) await agrees(() => chancesOf(one.stations.values()));
    if (hasPython) await agrees(() => python(1));
  });

  it("stands in the answer to a mark, dry or not, in its report, and in what webhooks send", async () => {
    const place = placeOf(1);
    const [client] = clients;
    await writeChances(country.db, new Map([[place.id, 35]]));
    await until(
      () => client!.get(`/stations/${place.id}`),
      ({ body }) => body.station.fuel.chance === 35,
    );
    const dry = await client!.mark(place, "dry", { status: "no" }, { "X-Dry-Run": "true" });
    expect([dry.body.report_id, dry.body.fuel.chance]).to.deep.equal(["", 35]);
    const { body } = await client!.mark(place, "wet", { status: "yes" });
    expect(body.fuel).to.include({ status: "yes", chance: 35 });
    const report = await client!.get(`/reports/${body.report_id}`);
    expect(report.body.fuel.chance).to.equal(35);
    const sent = await createStationReader(country.db, instance.config, Date.now)([place.id]);
    const { body: served } = await client!.get(`/stations/${place.id}`);
    expect(JSON.parse(sent.get(place.id)!.json!)).to.deep.equal(served.station);
  });
});

describe("flow: a mark, and the chance that follows it", function () {
  const settings = { CHANCE: "true", SLOT_MS: "1000" };
  const roles = ["web", "web", "marks", "snapshots", "clock"];
  const { webs, clients, pages, country } = useStage(3, roles, settings);
  const chanceAt = async (n: number, path: string): Promise<number | null> =>
    chancesOf((await clients[n]!.get(path)).body.stations as Station[])[place.id] ?? null;
  const place = placeOf(1);

  it("is known after a yes and lower after a no, in all reads of both processes", async () => {
    const everywhere = async (isSo: (chance: number) => boolean): Promise<number> => {
      let last = 0;
      for (const n of webs.keys())
        for (const path of ["/stations?bbox=54,36,56,38", "/stations/all?limit=30000"])
          last = (await until(
            () => chanceAt(n, path),
            (chance) => chance !== null && isSo(chance),
          ))!;
      return last;
    };
    await clients[0]!.mark(place, "anna", { status: "yes" });
    const high = await everywhere(() => true);
    await clients[1]!.mark(place, "boris", { status: "no" });
    await everywhere((chance) => chance < high);
  });

  it("takes a partner's key as the source of a mark, and a driver on the map as of none", async () => {
    const [{ id, lat, lon }, path] = [placeOf(2), webs[0]!.baseUrl];
    const other = await addKey(country.db, country.partnerId);
    await createClient(path, other).mark(placeOf(2), "carla", { status: "yes" });
    const body = { device: "d-1", lat, lon, status: "yes" };
    await pages[0]!.post(`/widget/stations/${id}/report`, body);
    const keys = await rows<{ id: number }>(country.db, "select max(id) as id from keys");
    const heard = async () =>
      (await marksOfStations(country.db, new Map([[id, 0]]), Date.now() + minuteMs)).get(id) ?? [];
    const marks = await until(heard, ({ length }) => length === 2);
    expect(marks.map(({ sourceId }) => sourceId)).to.deep.equal([keys[0]!.id, null]);
  });
});
