import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { isRefusal } from "#src/contract/refusals.ts";
import { importStations } from "#test/harness/import-stations.ts";
import { isFault } from "#src/import/read-text.ts";
import { rows } from "#src/infrastructure/db.ts";
import {
  doubtfulPairs,
  joinsOf,
  keepStationsApart,
  mergeStation,
  splitStation,
} from "#src/stations/join-stations.ts";
import { setFieldSources } from "#src/stations/shown-fields.ts";
import { by } from "#test/harness/by.ts";
import { useFolder, useInstance } from "#test/harness/use.ts";

const metre = 1 / 111_195;
const station = (id: number, metres: number, tags: object) => ({
  ...{ type: "node", id, lat: 45.0712345 + metres * metre, lon: 7.6812345 },
  tags: { amenity: "fuel", "fuel:octane_95": "yes", ...tags },
});
const feature = (id: string, metres: number, tags: object) => {
  const { lat, lon, tags: properties } = station(1, metres, tags);
  return { type: "Feature", id, geometry: { type: "Point", coordinates: [lon, lat] }, properties };
};

describe("stations of two sources", () => {
  const instance = useInstance();
  const folder = useFolder();
  beforeEach(() => instance.db.raw("truncate changes, stations, cities cascade"));

  let files = 0;
  const run = async (source: string, content: object, dryRun = false, replaceSource = false) => {
    const path = join(folder.path, `${(files += 1)}.json`);
    await writeFile(path, JSON.stringify(content));
    const done = await importStations(instance.db, { path, source, dryRun, replaceSource });
    if (isFault(done)) throw new Error(done.fault);
    return done;
  };
  const osm = (...elements: object[]) => run("osm", { elements });
  const register = (features: object[], dryRun = false) =>
    run("it", { type: "FeatureCollection", features }, dryRun);
  const inService = async () =>
    (
      await rows<{ id: string }>(
        instance.db,
        "select id from stations where removed_at is null order by id",
      )
    ).map(({ id }) => id);
  const feed = () =>
    rows<{ station_id: string; seq: number; removed: boolean }>(
      instance.db,
      "select station_id, seq, removed from changes order by station_id",
    );
  const q8 = { brand: "Q8" };

  it("are one where the matcher is sure; the one that was there first stays", async () => {
    await osm(station(1, 0, q8), station(2, 900, { brand: "Esso" }));
    const twin = [feature("77", 8, { ...q8, name: "AG021" }), feature("78", 2000, q8)];
    expect(await register(twin, true)).to.include({ added: 2, joined: 1, asked: 0 });
    expect(await inService()).to.deep.equal(["n1", "n2"]);
    expect(await register(twin)).to.include({ added: 2, joined: 1, asked: 0 });
    expect(await inService()).to.deep.equal(["it-78", "n1", "n2"]);
    expect(await joinsOf(instance.db, "n1")).to.deep.equal({
      part_of: null,
      parts: [{ id: "it-77", source: "it", actor: "import", shows: [] }],
    });
    expect((await feed()).find((one) => one.station_id === "it-77")).to.include({ removed: true });
  });

  it("stay one, unchanged, at the next imports of both, and no part is opened again", async () => {
    const [file, twins] = [station(1, 0, q8), [feature("77", 8, q8)]];
    await osm(file);
    await register(twins);
    const before = await feed();
    expect(await register(twins)).to.include({ added: 0, changed: 0, unchanged: 1, joined: 0 });
    expect(await osm(file)).to.include({ added: 0, changed: 0, unchanged: 1, joined: 0 });
    expect(await feed()).to.deep.equal(before);
    expect(await register([feature("77", 8, { ...q8, name: "New name" })])).to.include({
      changed: 1,
    });
    expect(await inService()).to.deep.equal(["n1"]);
  });

  it("leave their place to a new row of their source when it no longer lists them", async () => {
    const whole = (...features: object[]) =>
      run("it", { type: "FeatureCollection", features }, false, true);
    await osm(station(1, 0, { brand: "Q8", "fuel:diesel": "yes" }));
    await setFieldSources(by(instance.db, "olga"), { sources: ["it"] }, "brand");
    await register([feature("77", 8, { brand: "Esso", "ref:mise": "1" })]);
    await mergeStation(by(instance.db, "olga"), { other: "n1" }, "it-77");
    const brandOf = async () =>
      (await instance.db("stations").where({ id: "n1" }).first("brand"))!.brand as string;
    expect(await brandOf()).to.equal("Esso");
    // The site has a new operator, and the register a new number for it.
    const dry = await run(
      "it",
      { type: "FeatureCollection", features: [feature("90", 6, q8)] },
      true,
      true,
    );
    expect(dry).to.include({ added: 1, removed: 0 });
    expect(await whole(feature("90", 6, q8))).to.include({ added: 1, joined: 1, removed: 0 });
    expect(await inService()).to.deep.equal(["n1"]);
    expect(await brandOf()).to.equal("Q8");
    const { parts } = await joinsOf(instance.db, "n1");
    expect(parts.map(({ id, shows }) => [id, shows.join()])).to.deep.equal([
      ["it-77", ""],
      ["it-90", "brand"],
    ]);
    // Back in the register, it says something again.
    await whole(feature("90", 6, q8), feature("77", 8, { brand: "Esso" }));
    expect(await brandOf()).to.equal("Esso");
  });

  it("stay one when the part is drawn again beside its old place in its own source", async () => {
    await register([feature("77", 8, q8)]);
    await osm(station(1, 0, {}));
    await mergeStation(by(instance.db, "olga"), { other: "it-77" }, "n1");
    const drawn = { type: "way", id: 5, center: { lat: 45.0712345, lon: 7.6812345 } };
    const tags = { amenity: "fuel", brand: "Q8", "addr:street": "Via Roma", "fuel:diesel": "yes" };
    expect(await osm(station(1, 0, {}), { ...drawn, tags })).to.include({ added: 0, merged: 1 });
    expect(await inService()).to.deep.equal(["it-77"]);
  });

  it("stay in service rather than their doubles that are parts", async () => {
    await register([feature("77", 8, q8)]);
    await osm(station(1, 0, q8));
    await osm(station(2, 3000, q8));
    await osm(station(1, 0, q8), station(2, 2, q8));
    expect(await inService()).to.deep.equal(["it-77"]);
    expect((await joinsOf(instance.db, "n2")).part_of).to.equal("it-77");
  });

  it("are not joined with the demo's, which are invented", async () => {
    await run("demo", { elements: [station(1, 0, q8)] });
    expect(await register([feature("77", 8, q8)])).to.include({ joined: 0, asked: 0 });
    await osm(station(2, 3000, q8));
    expect(await inService()).to.deep.equal(["it-77", "n1", "n2"]);
  });

  it("are never joined again after a person has split them, or kept them apart", async () => {
    const twins = [feature("77", 8, q8)];
    await osm(station(1, 0, q8));
    await register(twins);
    expect(isRefusal(await splitStation(by(instance.db, "olga"), {}, "it-77"))).to.equal(false);
    expect(await register(twins)).to.include({ joined: 0, asked: 0 });
    expect(await inService()).to.deep.equal(["it-77", "n1"]);
    // A person may.
    const merged = await mergeStation(by(instance.db, "olga"), { other: "n1" }, "it-77");
    expect(isRefusal(merged)).to.equal(false);
    expect(await inService()).to.deep.equal(["n1"]);
  });

  it("wait for a person where the matcher is in doubt, until one decides or they are gone", async () => {
    await osm(station(1, 0, q8), station(2, 70, q8));
    const between = [feature("77", 34, q8)];
    expect(await register(between)).to.include({ joined: 0, asked: 2 });
    const found = await doubtfulPairs(instance.db);
    expect(found.map(({ station, into }) => `${station.id} ${into.id}`)).to.have.members([
      "it-77 n1",
      "it-77 n2",
    ]);
    expect(found[0]!.evidence).to.include("same brand");
    await keepStationsApart(by(instance.db, "olga"), { other: "it-77" }, "n1");
    expect((await register(between)).asked).to.equal(1);
    expect((await doubtfulPairs(instance.db)).map((pair) => pair.into.id)).to.deep.equal(["n2"]);
    await register([feature("77", 5000, q8)]);
    expect(await doubtfulPairs(instance.db)).to.deep.equal([]);
  });

  it("are found by the register's id that the other one's tags name, whichever comes first", async () => {
    const named = station(1, 0, { brand: "Esso", "ref:mise": "3474" });
    const other = [feature("3474", 120, { brand: "Q8" })];
    await osm(named);
    expect((await register(other)).joined).to.equal(1);
  });

  it("are no longer found by a register's id that the newest file does not name", async () => {
    const refs = () =>
      rows(instance.db, "select station_id, refs from station_refs order by station_id");
    const kept = station(2, 900, { "ref:mise": "4000" });
    await osm(station(1, 0, { "ref:mise": "3474" }), kept);
    await osm(station(1, 0, {}), kept);
    expect(await refs()).to.deep.equal([
      { station_id: "n1", refs: [] },
      { station_id: "n2", refs: ["4000"] },
    ]);
  });

  it("save more than 10,000 changes in many transactions, of which one that fails stops the others", async () => {
    const many = Array.from({ length: 12_000 }, (_, n) => station(n + 1, 100 * n, {}));
    await instance.db.raw("alter table changes add constraint fails check (station_id <> 'n5000')");
    const failed = await osm(...many).then(
      () => null,
      (error: unknown) => String(error),
    );
    expect(failed).to.include("fails");
    const saved = (await inService()).length;
    expect(saved).to.be.within(1000, 11_000);
    expect(saved % 1000).to.equal(0);
    await instance.db.raw("alter table changes drop constraint fails");
    expect(await osm(...many)).to.include({ added: 12_000 - saved, unchanged: saved });
    expect((await feed()).length).to.equal(12_000);
    expect(await osm(...many)).to.include({ added: 0, changed: 0, unchanged: 12_000 });
  });

  it("make one part of a part's parts, and a chain ends at one station", async () => {
    await osm(station(1, 0, q8), station(2, 900, q8), station(3, 1800, q8));
    const olga = by(instance.db, "olga");
    await mergeStation(olga, { other: "n2" }, "n1");
    await mergeStation(olga, { other: "n3" }, "n2");
    expect((await joinsOf(instance.db, "n3")).parts.map(({ id }) => id)).to.deep.equal([
      "n1",
      "n2",
    ]);
    await splitStation(olga, {}, "n1");
    expect(await inService()).to.deep.equal(["n1", "n3"]);
    await mergeStation(olga, { other: "n1" }, "n3");
    expect(await inService()).to.deep.equal(["n1"]);
    expect((await joinsOf(instance.db, "n1")).parts.map(({ id }) => id)).to.deep.equal([
      "n2",
      "n3",
    ]);
  });
});
