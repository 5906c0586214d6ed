import { expect } from "chai";
import { idOf } from "#src/stations/own-ids.ts";
import { fromGeojson, fromOverpass } from "#src/import/osm-object.ts";
import { stationFrom, type ImportedStation } from "#src/import/osm-station.ts";
import { joinSame } from "#src/import/same-station.ts";

const overpass = (item: object) => fromOverpass(item, "osm");
const geojson = (item: object) => fromGeojson({ type: "Feature", ...item }, "own");
const station = (tags: Record<string, unknown>) =>
  stationFrom({ id: "n1", lat: 55, lon: 37, tags: { amenity: "fuel", ...tags } });

describe("an object of an OSM extract", () => {
  it("stands where its center, bounds or geometry say when it has no position of its own", () => {
    const at = { id: "w7", lat: 55.5, lon: 37.5, tags: {} };
    expect(overpass({ type: "way", id: 7, center: { lat: 55.5, lon: 37.5 } })).to.deep.equal(at);
    expect(
      overpass({ type: "way", id: 7, bounds: { minlat: 55, minlon: 37, maxlat: 56, maxlon: 38 } }),
    ).to.deep.equal(at);
    expect(
      overpass({
        type: "way",
        id: 7,
        geometry: [
          { lat: 55, lon: 37 },
          { lat: 56, lon: 38 },
          { lat: 55, lon: 37.2 },
        ],
      }),
    ).to.deep.equal(at);
  });

  it("is refused without id or position, and at 0, 0", () => {
    expect(overpass({ type: "node", lat: 55, lon: 37 })).to.deep.equal({ refused: "no-id" });
    expect(overpass({ type: "area", id: 5, lat: 55, lon: 37 })).to.deep.equal({ refused: "no-id" });
    expect(overpass({ type: "way", id: 5 })).to.deep.equal({ refused: "no-position" });
    expect(overpass({ type: "node", id: 5, lat: 0, lon: 0 })).to.deep.equal({
      refused: "bad-position",
    });
    expect(overpass({ type: "node", id: 5, lat: 1e-15, lon: 1e-15 })).to.deep.equal({
      refused: "bad-position",
    });
    expect(overpass({ type: "node", id: 5, lat: 5_400_000, lon: 1_200_000 })).to.deep.equal({
      refused: "in-metres",
    });
    expect(overpass({ type: "node", id: 5, lat: 95, lon: 0 })).to.deep.equal({
      refused: "bad-position",
    });
    expect(overpass({ type: "node", id: 5, lat: "55", lon: 37 })).to.deep.equal({
      refused: "no-position",
    });
    expect(fromOverpass(null, "osm")).to.deep.equal({ refused: "not-an-object" });
  });

  it("has the ids of the usual GeoJSON exports", () => {
    const geometry = { type: "Point", coordinates: [37, 55] };
    const id = (item: object) => {
      const read = geojson({ geometry, ...item });
      return "id" in read ? read.id : read.refused;
    };
    expect(id({ id: "node/12" })).to.equal("n12");
    expect(id({ properties: { "@id": "way/12" } })).to.equal("w12");
    expect(id({ id: "r12" })).to.equal("r12");
    expect(id({ properties: { osm_type: "relation", osm_id: 12 } })).to.equal("r12");
    expect(id({ id: "A-7" })).to.equal("own-A-7");
    expect(id({ id: "a b" }))
      .to.equal(idOf("own", "a b"))
      .and.not.equal("own-a-b");
    expect(id({ id: "zUaS=" })).to.equal(idOf("own", "zUaS="));
    expect(id({ id: "" })).to.equal("no-id");
    // osmium numbers the area of a way and that of a relation.
    expect(id({ id: "a1402" })).to.equal("w701");
    expect(id({ id: "a1405" })).to.equal("r702");
    expect(id({})).to.equal("no-id");
  });

  it("counts an area at the middle of its extent", () => {
    const ring = [
      [37, 55],
      [38, 55],
      [38, 56],
      [37, 55],
    ];
    expect(geojson({ id: "way/1", geometry: { type: "Polygon", coordinates: [ring] } })).to.include(
      { lat: 55.5, lon: 37.5 },
    );
    expect(geojson({ id: "way/1", geometry: null })).to.deep.equal({ refused: "no-position" });
  });
});

describe("the tags of a station", () => {
  it("tell petrol from gas alone and from nothing said", () => {
    expect(station({ "fuel:octane_95": "yes", "fuel:lpg": "yes" })).to.include({ sells: "petrol" });
    expect(station({ "fuel:octane": "no;yes" })).to.include({ sells: "petrol" });
    expect(station({ "fuel:lpg": "yes", "fuel:octane_95": "no" })).to.include({ sells: "gas" });
    expect(station({ name: "АГЗС № 4" })).to.include({ sells: "gas" });
    expect(station({ name: "АЗС / АГЗС" })).to.include({ sells: "unsaid" });
    expect(station({ name: "Метановский тракт" })).to.include({ sells: "unsaid" });
  });

  it("make an address, as far as there is one", () => {
    const addr = (tags: Record<string, string>) => (station(tags) as ImportedStation).addr;
    expect(
      addr({ "addr:city": "Омск", "addr:street": "улица Мира", "addr:housenumber": "5 к1" }),
    ).to.equal("улица Мира, 5 к1, Омск");
    expect(
      addr({ "addr:city": "Turku", "addr:street": "Kaskentie", "addr:housenumber": "2" }),
    ).to.equal("Kaskentie 2, Turku");
    expect(addr({ "addr:city": "Омск", "addr:housenumber": "5" })).to.equal("Омск");
    expect(addr({ "addr:full": "КАД, 25-й км" })).to.equal("КАД, 25-й км");
    expect(addr({})).to.equal("");
  });

  it("lose what an export through a web page has left in names", () => {
    expect(station({ name: "Müller &amp; S&ouml;hne &amp;quot;B&amp;quot;" })).to.include({
      name: 'Müller & Söhne "B"',
    });
    expect(station({ name: "A & B &co" })).to.include({ name: "A & B &co" });
  });

  for (const [reason, ...all] of [
    ["not-public", { access: "private" }, { access: "no" }, { access: "employees" }],
    ["disused", { disused: "yes" }, { amenity: "", "disused:amenity": "fuel" }],
    ["disused", { abandoned: "yes" }, { amenity: "", "abandoned:amenity": "fuel" }],
    ["not-yet-open", { construction: "yes" }, { amenity: "", "construction:amenity": "fuel" }],
    ["boats-only", { boat: "yes", motor_vehicle: "no" }, { amenity: "", waterway: "fuel" }],
    ["aircraft-only", { amenity: "", aeroway: "fuel" }],
    ["closed", { opening_hours: "closed" }, { opening_hours: 'off "since 2020"' }],
  ] as const)
    it(`are refused as ${reason} for ${JSON.stringify(all)}`, () => {
      for (const tags of all)
        expect(station(tags)).to.deep.equal({ refused: reason, about: { id: "n1" } });
    });

  it("are taken where customers may come, and where another thing was before", () => {
    for (const tags of [
      { access: "customers" },
      { "disused:amenity": "cafe" },
      { "was:amenity": "fuel" },
      { opening_hours: "Mo-Sa 08:00-20:00; Su closed" },
      { opening_hours: "24/7; PH off" },
    ])
      expect(station(tags)).to.include({ id: "n1" });
  });

  it("are refused for anything but a filling station", () => {
    expect(stationFrom({ id: "n1", lat: 1, lon: 1, tags: { amenity: "cafe" } })).to.deep.equal({
      refused: "not-a-fuel-station",
      about: { id: "n1" },
    });
  });
});

const metre = 1 / 111_195;
const at = (id: string, metres: number, more: Partial<ImportedStation> = {}): ImportedStation => ({
  id,
  lat: 55 + metres * metre,
  lon: 37,
  brand: "",
  name: "",
  operator: "",
  addr: "",
  street: false,
  city: "",
  sells: "petrol",
  grades_sold: null,
  opening_hours: "",
  ...more,
});
const join = (candidates: ImportedStation[], known: string[] = [], closed: string[] = []) => {
  const { groups, doubtful } = joinSame(candidates, {
    ...{ inService: new Set(known), parts: new Set<string>(), closed: new Set(closed) },
  });
  return {
    ids: groups.map(({ station: { id }, doubles }) => [id, ...doubles].join("+")).sort(),
    doubtful,
    groups,
  };
};

describe("two objects that may be one station", () => {
  it("are one when a node and a way are within 25 m, and the one knows what the other does not", () => {
    const { ids, doubtful, groups } = join([
      at("w1", 20, { addr: "улица Мира, 5", street: true }),
      at("n1", 0, { brand: "Shell" }),
    ]);
    expect(ids).to.deep.equal(["n1+w1"]);
    expect(groups[0]?.station).to.include({ brand: "Shell", addr: "улица Мира, 5" });
    expect(doubtful).to.deep.equal([]);
  });

  it("are two beyond 25 m, doubtful up to 40 m", () => {
    expect(join([at("n1", 0), at("w1", 30)])).to.deep.include({
      ids: ["n1", "w1"],
      doubtful: [{ ids: ["n1", "w1"], distance_m: 30, reason: "25 to 40 m apart" }],
    });
    expect(join([at("n1", 0), at("w1", 41)])).to.deep.include({ ids: ["n1", "w1"], doubtful: [] });
  });

  it("are two and doubtful when their names differ, one when spellings alone do", () => {
    const different = join([at("n1", 0, { brand: "Shell" }), at("w1", 9, { brand: "Teboil" })]);
    expect(different.ids).to.deep.equal(["n1", "w1"]);
    expect(different.doubtful).to.deep.equal([
      { ids: ["n1", "w1"], distance_m: 9, reason: "different names" },
    ]);
    expect(
      join([at("n1", 0, { brand: "Газпром Нефть" }), at("w1", 9, { name: "ГАЗПРОМНЕФТЬ" })]).ids,
    ).to.deep.equal(["n1+w1"]);
  });

  it("are two when one brand has two addresses at one geocoded position", () => {
    const of = (id: string, addr: string) => at(id, 0, { brand: "Q8", addr, street: true });
    const { ids, doubtful } = join([
      of("it-1", "VIA FIUME 30, ROMA"),
      of("it-2", "VIA PO 3, ROMA"),
      of("it-3", "Via Fiume 30, Roma"),
    ]);
    expect(ids).to.deep.equal(["it-1+it-3", "it-2"]);
    expect(doubtful.map(({ reason }) => reason)).to.deep.equal(
      Array(2).fill("different addresses"),
    );
  });

  it("are two when both are nodes, unless they bear the same name", () => {
    expect(join([at("n1", 0, { brand: "Shell" }), at("n2", 9)]).doubtful).to.have.length(1);
    expect(
      join([at("n1", 0, { brand: "Shell" }), at("n2", 9, { name: "Shell" })]).ids,
    ).to.deep.equal(["n1+n2"]);
  });

  it("keep the id that is already a station, so that a mapper's edit does not make a second", () => {
    const pair = [at("n1", 0, { brand: "Shell" }), at("w1", 9)];
    expect(join(pair).ids).to.deep.equal(["n1+w1"]);
    expect(join(pair, ["w1"]).ids).to.deep.equal(["w1+n1"]);
  });

  it("keep the id that an operator has closed, unless another one of them is in service", () => {
    const both = [
      at("w1", 0),
      at("n1", 10, { name: "Shell", addr: "улица Мира, 5", street: true }),
    ];
    expect(join(both, [], ["w1"]).ids).to.deep.equal(["w1+n1"]);
    expect(join(both, ["n1"], ["w1"]).ids).to.deep.equal(["n1+w1"]);
  });

  it("leave a gas pump beside a petrol station alone, without doubt", () => {
    const { ids, doubtful } = join([
      at("n1", 0, { brand: "Лукойл", sells: "unsaid" }),
      at("n2", 9, { sells: "gas" }),
    ]);
    expect(ids).to.deep.equal(["n1", "n2"]);
    expect(doubtful).to.deep.equal([]);
  });
});
