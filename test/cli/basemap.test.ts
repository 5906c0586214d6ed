import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VectorTile } from "@mapbox/vector-tile";
import { expect } from "chai";
import { PbfReader } from "pbf";
import { PMTiles } from "pmtiles";
import { blockOf, osmExtract } from "#test/harness/osm-extract.ts";
import { osmTown } from "#test/harness/osm-town.ts";
import { runOperator } from "#test/harness/operator.ts";

const middle = { lon: 37.6, lat: 55.75 };

/** The tile in which a point lies, and where in it, in steps of 4096. */
function tileAt(z: number, { lon, lat }: typeof middle) {
  const [left, top] = [
    (lon / 360 + 0.5) * 2 ** z,
    (0.5 - Math.asinh(Math.tan((lat / 180) * Math.PI)) / (2 * Math.PI)) * 2 ** z,
  ];
  const [x, y] = [Math.floor(left), Math.floor(top)];
  return { z, x, y, at: { x: (left - x) * 4096, y: (top - y) * 4096 } };
}

describe("operator basemap build", function () {
  let folder: string;
  let extract: string;
  const path = (name: string): string => join(folder, name);
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "fuelmark-basemap-"));
    extract = path("town.osm.pbf");
    await writeFile(extract, osmExtract(osmTown(middle)));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const build = (...args: string[]) => runOperator({}, "basemap", "build", ...args);

  /** The layers of a tile, with what their features say. */
  async function read(file: string) {
    const bytes = await readFile(file);
    const archive = new PMTiles({
      getKey: () => file,
      getBytes: (at, length) =>
        Promise.resolve({ data: Uint8Array.from(bytes.subarray(at, at + length)).buffer }),
    });
    const layer = async (name: string, z: number, place = middle) => {
      const { x, y } = tileAt(z, place);
      const tile = await archive.getZxy(z, x, y);
      const found =
        tile === undefined ? undefined : new VectorTile(new PbfReader(tile.data)).layers[name];
      return Array.from({ length: found?.length ?? 0 }, (_, n) => found!.feature(n));
    };
    return { archive, layer };
  }

  it("makes roads by their class, water with its islands, places and borders", async () => {
    const made = await build(extract, "--json");
    expect(made.code, made.err).to.equal(0);
    const { file, ...counts } = made.json;
    expect(file).to.equal(path("town.pmtiles"));
    // 21 streets each way, and a motorway; a lake, a pond, a river and the coast.
    expect(counts).to.include({ roads: 43, water: 4, places: 1, boundaries: 1, broken: 1 });
    const { archive, layer } = await read(file);
    const { minZoom, maxZoom, clustered } = await archive.getHeader();
    expect({ minZoom, maxZoom, clustered }).to.deep.equal({
      ...{ minZoom: 0, maxZoom: 14, clustered: true },
    });
    expect(await archive.getMetadata()).to.include({ attribution: "© OpenStreetMap contributors" });
    const kindsAt = async (z: number): Promise<unknown[]> =>
      [
        ...new Set((await layer("roads", z)).map(({ properties }) => properties["kind_detail"])),
      ].sort();
    expect(await kindsAt(5)).to.deep.equal(["motorway"]);
    expect(await kindsAt(6)).to.deep.equal(["motorway", "trunk"]);
    expect(await kindsAt(10)).to.deep.equal(["motorway", "secondary", "trunk"]);
    expect(await kindsAt(14)).to.deep.equal(["residential", "secondary", "trunk"]);
    const [main] = (await layer("roads", 14)).filter((one) => one.properties["ref"] === "М-10");
    expect(main!.properties).to.deep.equal({
      ...{
        kind: "major_road",
        kind_detail: "trunk",
        min_zoom: 6,
        ref: "М-10",
        shield_text: "М-10",
      },
      ...{ name: "1-я Восточная улица", script: "Cyrillic" },
    });
    const [city] = await layer("places", 7);
    expect(city!.properties).to.include({
      ...{ kind: "locality", name: "Бензинск", "name:en": "Benzinsk", population: 612_000 },
      ...{ population_rank: 11, script: "Cyrillic" },
    });
    // A way of two borders is drawn once, as the more important one.
    const borders = await layer("boundaries", 8);
    expect(borders.map(({ properties }) => properties)).to.deep.equal([
      { kind: "country", kind_detail: 2 },
    ]);
    expect(await layer("earth", 14)).to.have.length(1);
  });

  it("leaves an island dry", async () => {
    const { layer } = await read(path("town.pmtiles"));
    // The lake's middle is 19 streets of 150 m east of the town's.
    const lon = middle.lon + (19 * 150) / (111_000 * Math.cos((middle.lat * Math.PI) / 180));
    const island = { lat: middle.lat, lon };
    const lakes = (await layer("water", 14, island)).filter(({ type }) => type === 3);
    expect(lakes.map(({ properties }) => properties)).to.deep.equal([{ kind: "lake" }]);
    const { at } = tileAt(14, island);
    const isWet = (x: number): boolean => {
      let crossings = 0;
      for (const ring of lakes[0]!.loadGeometry())
        ring.slice(1).forEach((b, n) => {
          const a = ring[n]!;
          if (a.y > at.y !== b.y > at.y && x < ((b.x - a.x) * (at.y - a.y)) / (b.y - a.y) + a.x)
            crossings += 1;
        });
      return crossings % 2 === 1;
    };
    // The island has a radius of 300 m, the lake of 900 m; a step of the tile is 0.34 m.
    expect([0, 600, 1400].map((steps) => isWet(at.x + steps))).to.deep.equal([false, false, true]);
    // Its name stands once, in the water.
    const names = (await layer("water", 11, island)).filter(({ type }) => type === 1);
    const [label] = names.filter(({ properties }) => properties["name"] === "Озеро");
    const { x: labelX, y: labelY } = label!.loadGeometry()[0]![0]!;
    const middleOf = tileAt(11, island).at;
    // A step is 2.7 m here.
    expect(Math.hypot(labelX - middleOf.x, labelY - middleOf.y)).to.be.within(111, 330);
  });

  it("makes the same file again, and says in words what it has made", async () => {
    const before = await readFile(path("town.pmtiles"));
    const { code, out } = await build(extract, "--out", path("town.pmtiles"));
    expect(code).to.equal(0);
    expect(out).to.contain(`set BASEMAP=${path("town.pmtiles")}`);
    expect(out).to.contain("broken      1  (waters whose outlines are not whole, left out)");
    expect((await readFile(path("town.pmtiles"))).equals(before)).to.equal(true);
  });

  const whole = osmExtract(osmTown(middle, 4));
  const faults: Record<string, [content: Buffer, fault: RegExp]> = {
    "a file cut off": [
      whole.subarray(0, -20),
      /ends in the middle of a block, at byte \d+; nothing/,
    ],
    "a file of another kind": [
      Buffer.from('{"elements": []}'),
      /is not an extract of OpenStreetMap/,
    ],
    "an empty file": [Buffer.alloc(0), /is not an extract of OpenStreetMap/],
    "garbled blocks": [
      Buffer.concat([whole, blockOf("OSMData", Buffer.from([0x0a, 0xff, 0xff]))]),
      /the block at byte \d+ cannot be read; nothing was changed/,
    ],
  };
  for (const [name, [content, fault]] of Object.entries(faults)) {
    it(`refuses ${name} in one sentence, and leaves the map that was there`, async () => {
      const file = path("wrong.osm.pbf");
      await Promise.all([writeFile(file, content), writeFile(path("wrong.pmtiles"), "before")]);
      const names = await readdir(folder);
      const { code, err, out } = await build(file);
      expect({ code, out }).to.deep.equal({ code: 2, out: "" });
      expect(err)
        .to.match(fault)
        .and.match(/^[^\n]+\n$/);
      expect(await readFile(path("wrong.pmtiles"), "utf8")).to.equal("before");
      expect((await readdir(folder)).sort()).to.deep.equal(names.sort());
    });
  }

  it("refuses a file that is not there, and a result that is no archive", async () => {
    expect((await build(path("none.osm.pbf"))).err).to.equal(
      `${path("none.osm.pbf")}: no such file\n`,
    );
    expect((await build(extract, "--out", path("town.mbtiles"))).err).to.contain(".pmtiles");
    const nowhere = join(folder, "no", "such.pmtiles");
    expect((await build(extract, "--out", nowhere)).err).to.contain("cannot be written (ENOENT)");
    expect((await stat(extract)).isFile()).to.equal(true);
  });
});
