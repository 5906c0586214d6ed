import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { VectorTile } from "@mapbox/vector-tile";
import { PbfReader } from "pbf";
import { PMTiles, TileType } from "pmtiles";
import { projectRoot } from "#src/infrastructure/project-root.ts";
import { writePmtiles } from "#src/infrastructure/pmtiles.ts";
import { withSea } from "#web/widget/map/sea.ts";
import { itLong } from "#test/harness/long.ts";

const readerOf = (archive: Buffer): PMTiles =>
  new PMTiles({
    getKey: () => "test",
    getBytes: (offset, length) => {
      const part = Uint8Array.from(archive.subarray(offset, offset + length));
      return Promise.resolve({ data: part.buffer });
    },
  });
const tileOf = async (reader: PMTiles, z: number, x: number, y: number): Promise<number | null> =>
  (await reader.getZxy(z, x, y))?.data.byteLength ?? null;

/** Sizes without a pattern, so that the directory does not shrink to nothing. */
function content(n: number): Buffer {
  const random = createHash("sha512").update(String(n)).digest();
  return random.subarray(0, 8 + (random[0]! % 56));
}

describe("web: the bundled base map", function () {
  it("is an archive that the map's reader understands, with land down to zoom 7", async () => {
    // As the run has built it.
    const built = join(projectRoot, "web", "dist", "basemap", "bundled.pmtiles");
    const reader = readerOf(readFileSync(built));
    const { tileType, minZoom, maxZoom, clustered } = await reader.getHeader();
    expect({ tileType, minZoom, maxZoom, clustered }).to.deep.equal({
      tileType: TileType.Mvt,
      minZoom: 0,
      maxZoom: 7,
      clustered: true,
    });
    // The world, Moscow, and the middle of the Pacific.
    expect(await tileOf(reader, 0, 0, 0)).to.be.greaterThan(1000);
    expect(await tileOf(reader, 7, 77, 39)).to.be.greaterThan(10);
    expect(await tileOf(reader, 7, 10, 64)).to.equal(null);
  });

  it("has water, borders and names in both languages, and none for what its source disputes", async () => {
    const built = join(projectRoot, "web", "dist", "basemap", "bundled.pmtiles");
    const reader = readerOf(readFileSync(built));
    const layersOf = async (z: number, x: number, y: number) =>
      new VectorTile(new PbfReader(new Uint8Array((await reader.getZxy(z, x, y))!.data))).layers;
    const namesOf = async (z: number, x: number, y: number) => {
      const { names } = await layersOf(z, x, y);
      return Array.from({ length: names!.length }, (_, n) => names!.feature(n).properties);
    };
    // The Gulf of Finland with its lakes, and the Black Sea's north.
    expect(Object.keys(await layersOf(4, 9, 4)).sort()).to.deep.equal([
      "borders",
      "lakes",
      "land",
      "names",
      "rivers",
    ]);
    const near = (await namesOf(4, 9, 4)).map(({ en, ru }) => `${String(en)} ${String(ru)}`);
    expect(near).to.include.members(["Finland Финляндия", "Pskov Псковская область"]);
    const all = (await namesOf(6, 37, 22)).map(({ en }) => en);
    expect(all).to.include("Kherson").and.not.include("Autonomous Republic of Crimea");
    // The whole world on one tile has countries only.
    expect(new Set((await namesOf(0, 0, 0)).map(({ of }) => of))).to.deep.equal(
      new Set(["country"]),
    );
  });

  it("has sea in each tile that has come, below its land, and none in those of others", async () => {
    const own = "https://map.test/basemap/bundled.pmtiles";
    const built = join(projectRoot, "web", "dist", "basemap", "bundled.pmtiles");
    const archive = readerOf(readFileSync(built));
    const read = withSea(async ({ url }) => {
      const [z, x, y] = url.split("/").slice(-3).map(Number);
      const found = await archive.getZxy(z!, x!, y!);
      return { data: new Uint8Array(found?.data ?? []) };
    }, own);
    const layersOf = async (url: string) => {
      const { data } = await read({ url }, new AbortController());
      return new VectorTile(new PbfReader(data as Uint8Array)).layers;
    };
    const coast = await layersOf(`pmtiles://${own}/4/9/4`);
    expect(coast["land"]!.length).to.be.greaterThan(0);
    const [square] = coast["sea"]!.feature(0).loadGeometry();
    expect(square!.map(({ x, y }) => [x, y])).to.deep.equal([
      ...[
        [-64, -64],
        [4160, -64],
      ],
      ...[
        [4160, 4160],
        [-64, 4160],
        [-64, -64],
      ],
    ]);
    expect(coast["sea"]).to.include({ length: 1, extent: 4096, version: 2 });
    expect(Object.keys(await layersOf(`pmtiles://${own}/7/10/64`))).to.deep.equal(["sea"]);
    expect(
      await layersOf("pmtiles://https://other.test/streets.pmtiles/4/9/4"),
    ).not.to.include.keys("sea");
  });

  itLong("finds every tile also where the directory does not fit into one piece", async () => {
    const z = 8;
    const tiles = Array.from({ length: 40_000 }, (_, n) => ({
      z,
      x: n % 256,
      y: Math.floor(n / 256),
      bytes: content(n),
    }));
    const reader = readerOf(writePmtiles(tiles, {}));
    const { leafDirectoryLength } = await reader.getHeader();
    expect(leafDirectoryLength).to.be.greaterThan(0);
    for (const { x, y, bytes } of tiles.filter((_, n) => n % 997 === 0)) {
      const found = await reader.getZxy(z, x, y);
      expect(Buffer.from(found!.data).toString("hex")).to.equal(bytes.toString("hex"));
    }
    expect(await reader.getZxy(z, 0, 200)).to.equal(undefined);
  });
});
