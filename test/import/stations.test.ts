import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { inTransaction, rows } from "#src/infrastructure/db.ts";
import { importStations } from "#test/harness/import-stations.ts";
import type { ImportSummary } from "#src/import/file-import.ts";
import { isFault } from "#src/import/read-text.ts";
import { closeStation } from "#src/stations/station-service.ts";
import { by } from "#test/harness/by.ts";
import { useFolder, useInstance } from "#test/harness/use.ts";

const fuel = { amenity: "fuel", "fuel:octane_95": "yes" };
const node = (id: number, metres: number, tags: object = {}) => ({
  type: "node",
  id,
  lat: 55 + metres / 111_195,
  lon: 37,
  tags: { ...fuel, ...tags },
});

describe("importing stations", () => {
  const instance = useInstance();
  const folder = useFolder();

  beforeEach(() => instance.db.raw("truncate changes, stations, cities cascade"));

  let files = 0;
  const run = async (
    content: unknown,
    more: { replaceSource?: boolean; dryRun?: boolean; source?: string } = {},
  ) => {
    // A file of its own for each run: what one run reads, another must not be writing.
    const path = join(folder.path, `${(files += 1)}.json`);
    await writeFile(path, typeof content === "string" ? content : JSON.stringify(content));
    return importStations(instance.db, { path, ...more });
  };
  const summary = async (...input: Parameters<typeof run>): Promise<ImportSummary> => {
    const done = await run(...input);
    if (isFault(done)) throw new Error(done.fault);
    const { read, added, changed, unchanged, merged, refused, reasons } = done;
    expect(read).to.equal(added + changed + unchanged + merged + refused);
    expect(Object.values(reasons).reduce((sum, one) => sum + one, 0)).to.equal(refused);
    return done;
  };
  const stations = () =>
    rows<{ id: string; brand: string; name: string; gone: boolean }>(
      instance.db,
      "select id, brand, name, removed_at is not null as gone from stations order by id",
    );
  const feed = () =>
    rows<{ station_id: string; seq: number; removed: boolean }>(
      instance.db,
      "select station_id, seq, removed from changes order by seq",
    );

  it("adds up, and does nothing the second time", async () => {
    const file = {
      elements: [
        node(1, 0, { brand: "ЛУКОЙЛ" }),
        { type: "way", id: 1, center: { lat: 55, lon: 37 }, tags: fuel },
        node(2, 500, { name: "Lukoil" }),
        node(3, 1000, { brand: "Independent", name: "Ромашка" }),
        { type: "node", id: 4, lat: 55.1, lon: 37, tags: { amenity: "fuel", "fuel:lpg": "yes" } },
        { type: "node", id: 5, lat: 55.2, lon: 37, tags: { amenity: "cafe" } },
        { type: "way", id: 6, tags: fuel },
        node(1, 0),
      ],
    };
    const first = await summary(file);
    expect(first).to.include({
      format: "overpass",
      source: "osm",
      read: 8,
      added: 3,
      merged: 1,
      refused: 4,
      removed: 0,
    });
    expect(first.reasons).to.deep.equal({
      "lpg-only": 1,
      "not-a-fuel-station": 1,
      "no-position": 1,
      "repeated-id": 1,
    });
    expect(await stations()).to.deep.equal([
      { id: "n1", brand: "Лукойл", name: "Лукойл", gone: false },
      { id: "n2", brand: "Лукойл", name: "Lukoil", gone: false },
      { id: "n3", brand: "", name: "Ромашка", gone: false },
    ]);
    const stamped = await feed();
    expect(stamped.map(({ station_id: id }) => id).sort()).to.deep.equal(["n1", "n2", "n3"]);
    expect(await summary(file)).to.include({ added: 0, changed: 0, unchanged: 3, removed: 0 });
    expect(await feed()).to.deep.equal(stamped);
  });

  it("stamps only what changed", async () => {
    await summary({ elements: [node(1, 0), node(2, 500)] });
    expect(await summary({ elements: [node(1, 0), node(2, 500, { name: "Новая" })] })).to.include({
      changed: 1,
      unchanged: 1,
    });
    expect((await feed()).map(({ station_id: id }) => id)).to.deep.equal(["n1", "n2"]);
  });

  it("keeps a station that a new file lacks, until --replace-source takes it out and a later file brings it back", async () => {
    await summary({ elements: [node(1, 0), node(2, 500)] });
    await summary({ elements: [node(9, 900)] }, { source: "other" });
    expect(await summary({ elements: [node(1, 0)] })).to.include({ unchanged: 1, removed: 0 });
    expect(
      await summary({ elements: [node(1, 0)] }, { replaceSource: true, dryRun: true }),
    ).to.include({ removed: 1 });
    expect((await stations()).filter(({ gone }) => gone)).to.deep.equal([]);
    expect(await summary({ elements: [node(1, 0)] }, { replaceSource: true })).to.include({
      removed: 1,
    });
    expect((await stations()).filter(({ gone }) => gone).map(({ id }) => id)).to.deep.equal(["n2"]);
    expect((await feed()).at(-1)).to.include({ station_id: "n2", removed: true });
    expect(await summary({ elements: [node(2, 500)] })).to.include({ changed: 1 });
    expect((await feed()).at(-1)).to.include({ station_id: "n2", removed: false });
  });

  it("takes a file without those that were closed by hand, however many they are", async () => {
    const nodes = Array.from({ length: 40 }, (_, n) => node(n, 500 * n));
    await summary({ elements: nodes });
    for (let n = 0; n < 20; n++) await closeStation(by(instance.db, "olga"), {}, `n${n}`);
    const rest = { elements: nodes.slice(20) };
    expect(await summary(rest, { replaceSource: true })).to.include({ removed: 0 });
    expect(await run({ elements: nodes.slice(35) }, { replaceSource: true })).to.have.property(
      "fault",
    );
  });

  it("changes nothing in a dry run", async () => {
    expect(await summary({ elements: [node(1, 0)] }, { dryRun: true })).to.include({
      added: 1,
      dry_run: true,
    });
    expect(await stations()).to.deep.equal([]);
  });

  const whole = JSON.stringify({ elements: [node(1, 0), node(2, 500)] });
  for (const [what, content] of Object.entries({
    "cut off in the middle": whole.slice(0, whole.length / 2),
    "cut off at its very end": whole.slice(0, -1),
    "followed by rubbish": `${whole}x`,
    "the answer of a query that failed": JSON.stringify({
      elements: [node(1, 0)],
      remark: "runtime error: Query timed out",
    }),
    "of another kind": "id;name\n1;x\n",
    "without a station": JSON.stringify({ elements: [] }),
    empty: "",
    "a list": "[]",
    "of two lists": `{"elements": ${JSON.stringify([node(1, 0)])}, "elements": []}`,
  })) {
    it(`refuses a file that is ${what}, whole`, async () => {
      const done = await run(content);
      expect(isFault(done)).to.equal(true);
      expect(await stations()).to.deep.equal([]);
    });
  }

  it("refuses a file that is not there, and one in another encoding", async () => {
    const path = join(folder.path, "none");
    expect(await importStations(instance.db, { path })).to.deep.equal({
      fault: `${path}: there is no such file; nothing was changed. Check its name and its folder.`,
    });
    await writeFile(path, Buffer.from([0x7b, 0x22, 0xc0, 0x22, 0x3a, 0x31, 0x7d]));
    const wrong = await importStations(instance.db, { path });
    expect(isFault(wrong) && wrong.fault).to.contain("not UTF-8");
  });

  it("takes a town's name for no brand, and one spelling for a brand of many", async () => {
    const named = (id: number, brand: string, city = "") =>
      node(id, id * 300, { brand, "addr:city": city });
    await summary({
      elements: [named(1, "Омск", "Омск"), named(2, "ТОПАЗ"), named(3, "Топаз"), named(4, "Тoпаз")],
    });
    expect((await stations()).map(({ brand }) => brand)).to.deep.equal([
      "",
      "Топаз",
      "Топаз",
      "Топаз",
    ]);
    await summary({
      elements: [named(5, "ТОПАЗ"), named(6, "ТОПАЗ"), named(7, "ТОПАЗ"), named(8, "ТОПАЗ")],
    });
    expect(new Set((await stations()).map(({ brand }) => brand))).to.deep.equal(
      new Set(["", "Топаз"]),
    );
  });

  it("imports a station once when two processes import the same file at once", async () => {
    const file = {
      elements: Array.from({ length: 2500 }, (_, index) => node(index + 1, index * 100)),
    };
    const both = await Promise.all([summary(file), summary(file)]);
    expect(both.map(({ added }) => added).sort()).to.deep.equal([0, 2500]);
    expect(both.map(({ unchanged }) => unchanged).sort()).to.deep.equal([0, 2500]);
  });

  it("leaves everything as it was when it dies between two thousands of rows (decisions 14.17)", async () => {
    const named = (name: string) => ({
      elements: Array.from({ length: 2500 }, (_, n) => node(n + 1, n * 100, { name })),
    });
    await summary(named("Before"));
    const path = join(folder.path, "dies.json");
    await writeFile(path, JSON.stringify(named("After")));
    let saved = 0;
    const dying = importStations(instance.db, {
      path,
      progress: (step, done) => {
        if (step !== "saving" || done < 2000) return;
        saved = done;
        throw new Error("the process dies here");
      },
    });
    const error = await dying.then(
      () => null,
      (reason: Error) => reason.message,
    );
    expect([error, saved]).to.deep.equal(["the process dies here", 2000]);
    expect(new Set((await stations()).map(({ name }) => name))).to.deep.equal(new Set(["Before"]));
    expect(await summary(named("After"))).to.include({ changed: 2500 });
  });

  it("does not wait for a transaction whose rows refer to a station that it changes", async () => {
    await summary({ elements: [node(1, 0), node(2, 5000)] });
    await rows(instance.db, "delete from station_status");
    await inTransaction(instance.db, async (tx) => {
      await rows(tx, "select lock_stations('{n1,n2}', false)");
      // What the marks worker locks is not the station itself; a row that refers to it locks its key.
      await rows(instance.db, "select from stations where id in ('n1', 'n2') for update nowait");
      await rows(tx, "select from stations where id in ('n1', 'n2') for key share");
      const done = await summary({ elements: [node(1, 7), node(2, 5007)] });
      expect(done).to.include({ changed: 2 });
    });
  });

  it("reads GeoJSON of the same tags", async () => {
    const feature = (id: string, lon: number, properties: object) => ({
      type: "Feature",
      id,
      properties: { ...fuel, ...properties },
      geometry: { type: "Point", coordinates: [lon, 60] },
    });
    const done = await summary({
      type: "FeatureCollection",
      features: [
        feature("node/1", 24, { name: "Neste Oil Kaarina" }),
        feature("node/2", 25, { name: "Huoltoasema" }),
      ],
    });
    expect(done).to.include({ format: "geojson", added: 2 });
    expect(await stations()).to.deep.equal([
      { id: "n1", brand: "Neste", name: "Neste Oil Kaarina", gone: false },
      { id: "n2", brand: "", name: "Huoltoasema", gone: false },
    ]);
  });
});
