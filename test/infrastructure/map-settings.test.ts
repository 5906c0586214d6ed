import { noSales } from "#src/domain/vocabulary.ts";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import {
  basemapFile,
  basemapHost,
  basemapOf,
  basemapState,
  basemapWord,
  parseCenter,
} from "#src/infrastructure/map-settings.ts";
import { writePmtiles } from "#src/infrastructure/pmtiles.ts";
import { loadConfig } from "#src/infrastructure/config.ts";
import { emptyState } from "#src/domain/state.ts";
import { createReadModel } from "#snapshots/model/model.ts";

describe("the settings of the map", () => {
  const cases: [text: string, kind: string, url: string, file: string | null][] = [
    ["", "bundled", "/basemap/bundled.pmtiles", null],
    ["bundled", "bundled", "/basemap/bundled.pmtiles", null],
    ["/srv/maps/land.pmtiles", "pmtiles", "/basemap/operator.pmtiles", "/srv/maps/land.pmtiles"],
    [
      "https://maps.example/land.pmtiles?v=2",
      "pmtiles",
      "https://maps.example/land.pmtiles?v=2",
      null,
    ],
    ["https://maps.example/style.json", "style", "https://maps.example/style.json", null],
    ["https://t.example/{z}/{x}/{y}.png", "raster", "https://t.example/{z}/{x}/{y}.png", null],
  ];
  for (const [text, kind, url, file] of cases) {
    it(`BASEMAP=${text} is drawn as ${kind}`, () => {
      const config = loadConfig({ BASEMAP: text, BASEMAP_ATTRIBUTION: "© somebody" });
      expect(basemapOf(config)).to.deep.equal({ kind, url, attribution: "© somebody" });
      expect(basemapFile(config)).to.equal(file);
    });
  }

  it("knows OpenFreeMap's two styles by name, and whom viewers ask", () => {
    const config = loadConfig({ BASEMAP: "openfreemap" });
    const { kind, url, dark, attribution } = basemapOf(config);
    expect([kind, url, dark].join(" ")).to.equal(
      "style https://tiles.openfreemap.org/styles/positron https://tiles.openfreemap.org/styles/dark",
    );
    expect(attribution).to.include("OpenStreetMap contributors");
    expect([basemapFile(config), basemapHost(config)]).to.deep.equal([
      null,
      "https://tiles.openfreemap.org",
    ]);
    expect(basemapHost(loadConfig({}))).to.equal(null);
  });

  it("says at the start what is to be known of it: no streets, or another host", async () => {
    expect(await basemapWord(loadConfig({}))).to.match(/no streets: set BASEMAP=openfreemap/);
    expect(await basemapWord(loadConfig({ BASEMAP: "openfreemap" }))).to.include(
      "https://tiles.openfreemap.org, which viewers' browsers ask",
    );
  });

  it("credits the bundled map's source unless told otherwise, and no other's", () => {
    expect(basemapOf(loadConfig({})).attribution).to.equal("Natural Earth");
    expect(basemapOf(loadConfig({ BASEMAP: "/srv/own.pmtiles" })).attribution).to.equal("");
  });

  it("credits what a file of the operator carries as its credit, as text", async () => {
    const folder = await mkdtemp(join(tmpdir(), "fuelmark-credit-"));
    const file = join(folder, "own.pmtiles");
    const own = loadConfig({ BASEMAP: file });
    try {
      expect(await basemapState(own)).to.equal("missing");
      expect(await basemapWord(own)).to.include(`${file}, cannot be read`);
      expect(basemapOf(own).attribution).to.equal("");
      const attribution = '<a href="https://osm.example">© OpenStreetMap</a>';
      await writeFile(
        file,
        writePmtiles([{ z: 0, x: 0, y: 0, bytes: Buffer.of(1) }], { attribution }),
      );
      expect(await basemapState(own)).to.equal("own");
      expect(await basemapWord(own)).to.equal(null);
      expect(basemapOf(own).attribution).to.equal("© OpenStreetMap");
      const said = loadConfig({ BASEMAP: file, BASEMAP_ATTRIBUTION: "© somebody" });
      expect(basemapOf(said).attribution).to.equal("© somebody");
      expect(await basemapState(loadConfig({}))).to.equal("bundled");
      const elsewhere = loadConfig({ BASEMAP: "https://maps.example/a.pmtiles" });
      expect(await basemapState(elsewhere)).to.equal("own");
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("refuses what can be no base map or centre, and says what is expected", () => {
    for (const text of ["none", "/srv/map.mbtiles", "ftp://maps.example/a.pmtiles/x", "https://"])
      expect(() => loadConfig({ BASEMAP: text }), text).to.throw(
        /BASEMAP must be bundled, openfreemap, the path/,
      );
    for (const text of [
      "55",
      "55,37",
      "91,37,5",
      "55,181,5",
      "55,37,23",
      "55,37,-1",
      "a,b,c",
      "55,37,5,6",
    ])
      expect(() => loadConfig({ WIDGET_CENTER: text }), text).to.throw(
        /WIDGET_CENTER must be lat,lon,zoom/,
      );
  });

  it("reads a centre with and without decimals and blanks", () => {
    expect(parseCenter("55.75, 37.6,10")).to.deep.equal({ lat: 55.75, lon: 37.6, zoom: 10 });
    expect(parseCenter("-33,-70,4.5")).to.deep.equal({ lat: -33, lon: -70, zoom: 4.5 });
  });

  it("finds the middle of all stations in service, at a zoom that shows them", () => {
    const model = createReadModel({ lifetimeMs: 1000 });
    const places = model.locations;
    expect(places.middle()).to.equal(null);
    const station = {
      brand: "",
      name: "",
      addr: "",
      ...noSales,
      seq: 1,
      at: 0,
      state: emptyState,
      chance: null,
    };
    const add = (id: string, lat: number, lon: number, removed = false) =>
      model.apply([{ ...station, id, lat, lon, removed }], 0);
    add("n1", 50, 30);
    expect(places.middle()).to.deep.equal({ lat: 50, lon: 30, zoom: 12 });
    add("n2", 60, 50);
    expect(places.middle()).to.deep.equal({ lat: 55, lon: 40, zoom: 4 });
    add("n2", 60, 50, true);
    expect(places.middle()).to.deep.equal({ lat: 50, lon: 30, zoom: 12 });
    // A country of 70 × 70 stations, and a few far from it.
    const side = 70;
    for (let n = 0; n < side * side; n += 1)
      add(`c${n}`, 45 + (n % side) / 10, 20 + Math.floor(n / side) / 10);
    for (let n = 0; n < 30; n += 1) add(`far${n}`, -20, -60);
    const { lat, lon } = places.middle()!;
    expect(lat).to.be.closeTo(48.5, 0.7);
    expect(lon).to.be.closeTo(23.5, 0.7);
  });
});
