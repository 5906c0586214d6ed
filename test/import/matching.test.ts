import { expect } from "chai";
import fc from "fast-check";
import { matchSources, type SourcePlace } from "#src/import/match-sources.ts";
import { compareStations, contradiction } from "#src/import/match-stations.ts";
import type { Place } from "#src/import/place-clues.ts";

const metre = 1 / 111_195;
const at = (id: string, metres: number, more: Partial<Place> = {}): Place => ({
  ...{ id, lat: 45.0712345 + metres * metre, lon: 7.6812345, brand: "", name: "", addr: "" },
  ...more,
});
const verdict = (a: Partial<Place>, b: Partial<Place>, metres = 20) =>
  compareStations(at("n1", 0, a), at("x-7", metres, b)).verdict;

describe("two rows of different sources", () => {
  it("are one station when brand and place agree, whatever the spelling", () => {
    expect(verdict({ brand: "Eni" }, { brand: "Agip Eni", name: "19829 TORINO" })).to.equal("sure");
    expect(verdict({ name: "Q8" }, { brand: "Q8", addr: "VIA PO 3, TORINO" })).to.equal("sure");
  });

  it("are two when their numbers differ", () => {
    const named = (name: string) => ({ brand: "Роснефть", name });
    expect(verdict(named("АЗС № 101"), named("АЗС № 102"))).to.equal("different");
    expect(verdict(named("АЗС № 101"), named("АЗС №101"))).to.equal("sure");
  });

  it("are one by a register's id, even with another brand", () => {
    const b = at("it-mimit-3474", 90, { brand: "Total Erg", name: "Sant'Ilario" });
    expect(compareStations(at("n1", 0, { brand: "IP", refs: ["3474"] }), b).verdict).to.equal(
      "sure",
    );
    expect(compareStations(at("n1", 0, { brand: "IP", refs: ["3475"] }), b).verdict).to.equal(
      "different",
    );
  });

  it("are two when one street has them at other numbers, or another street", () => {
    const a = { brand: "Q8", addr: "Via Tiburtina 660, Roma" };
    expect(verdict(a, { brand: "Q8", addr: "VIA TIBURTINA 612, ROMA" }, 90)).to.equal("different");
    expect(verdict(a, { brand: "Q8", addr: "Via Tiburtina 660, Roma" }, 90)).to.equal("sure");
    expect(verdict(a, { brand: "Q8", addr: "VIA NOMENTANA 490, ROMA" }, 60)).to.equal("different");
  });

  it("say nothing by a position that stands for a street or a town", () => {
    const [a, b] = [at("n1", 0, { brand: "Q8" }), at("x-7", 0, { brand: "Q8" })];
    const around = { clearM: 0, covered: false, shared: true };
    expect(compareStations(a, b, around).verdict).to.equal("doubtful");
  });

  const esso = (name: string, addr: string) => ({ brand: "Esso", name, addr });
  for (const [title, a, b] of [
    [
      "est and ovest",
      esso("TRENS EST", "A22 BRENNERO-MODENA, Km. 20,06, Nord, CAMPO DI TRENS"),
      esso("TRENS OVEST", "A22 BRENNERO-MODENA, Km. 20,06, Sud, CAMPO DI TRENS"),
    ],
    [
      "interna and esterna",
      esso("PISANA ESTERNA", "Autostrada A90 G.R.A., Km. 65+587, ROMA"),
      esso("Pisana Interna", "A90 G.R.A., Km. 65,543, Interna, ROMA"),
    ],
    ["nord and sud", esso("", "A61 Aire d'Arzens Sud"), esso("", "A61 AIRE D'ARZENS NORD, ARZENS")],
    ["lato dx and sx", esso("", "A7 Km 12 lato DX"), esso("", "A7 Km 12 lato SX")],
    [
      "a side in the name of the road",
      esso("", "A1 MILANO-NAPOLI Dir. Roma Nord"),
      esso("SALARIA OVEST", "A1 MILANO-NAPOLI Dir. Roma Nord, dir. Roma"),
    ],
    ["a known and an unknown side", esso("TRENS EST", "A22 BRENNERO-MODENA"), esso("Esso", "")],
    ["two unknown sides", esso("Esso", "A7"), esso("Esso", "Autostrada A7")],
  ] as const)
    it(`are never joined across a motorway: ${title}`, () => {
      for (const metres of [0, 12, 40, 120])
        expect(verdict(a, b, metres), `${metres} m`).to.not.equal("sure");
    });

  it("are one on a motorway when both name the same side", () => {
    const a = esso("TRENS EST", "A22 BRENNERO-MODENA, Km. 20,06, CAMPO DI TRENS");
    expect(verdict(a, esso("Trens Est", ""))).to.equal("sure");
  });

  it("contradict each other by address, not by spelling", () => {
    const of = (addr: string) => at("n1", 0, { brand: "Q8", addr });
    expect(contradiction(of("VIA FIUME 30, LADISPOLI"), of("Via Fiume, Ladispoli"))).to.equal(
      undefined,
    );
    expect(contradiction(of("Via Fiume 30, Roma"), of("Via Fiume 30, Terni"))).to.equal(
      "other town",
    );
  });
});

const words = ["Eni", "Q8", "Esso", "Via Roma 1", "Via Po 3", "№ 101", "Est", "Ovest", "A22", ""];
const place = fc.record({
  metres: fc.integer({ min: 0, max: 400 }),
  source: fc.constantFrom("osm", "it", "brand"),
  brand: fc.constantFrom("", "Eni", "Agip Eni", "Q8", "Esso"),
  name: fc.constantFrom(...words),
  addr: fc.constantFrom(...words),
});
const places = fc.array(place, { maxLength: 12 }).map((some) =>
  some.map(({ metres, source, ...texts }, n): SourcePlace => ({
    ...at(`${source}-${n}`, metres, texts),
    sources: [source],
  })),
);

describe("matching sources", () => {
  it("is symmetric", () => {
    fc.assert(
      fc.property(place, place, (a, b) => {
        const [x, y] = [at("n1", a.metres, a), at("x-7", b.metres, b)];
        expect(compareStations(x, y)).to.deep.equal(compareStations(y, x));
      }),
    );
  });

  it("does not depend on the order of the rows", () => {
    fc.assert(
      fc.property(
        places.chain((some) =>
          fc.tuple(fc.constant(some), fc.shuffledSubarray(some, { minLength: some.length })),
        ),
        ([some, shuffled]) => {
          expect(matchSources(shuffled)).to.deep.equal(matchSources(some));
        },
      ),
    );
  });

  it("joins a row with one row of another source at most, and never two of one source", () => {
    fc.assert(
      fc.property(places, (some) => {
        const sourceOf = new Map(some.map(({ id, sources }) => [id, sources[0]!]));
        const joined = matchSources(some).sure.flatMap(({ ids: [a, b] }) => [
          `${a} ${sourceOf.get(b)}`,
          `${b} ${sourceOf.get(a)}`,
        ]);
        expect(new Set(joined).size).to.equal(joined.length);
        for (const { ids } of matchSources(some).sure)
          expect(sourceOf.get(ids[0])).to.not.equal(sourceOf.get(ids[1]));
      }),
    );
  });

  const of = (source: string, id: string, metres: number, more: Partial<Place> = {}) => ({
    ...at(`${source}-${id}`, metres, more),
    sources: [source],
  });
  const ids = (pairs: readonly { ids: readonly string[] }[]) =>
    pairs.map((pair) => pair.ids.join(" "));

  it("pairs both stations of a street each with its own, and asks when two are as likely", () => {
    const brand = { brand: "Q8" };
    const both = [of("a", "1", 0, brand), of("a", "2", 70, brand)];
    expect(
      ids(matchSources([...both, of("b", "1", 5, brand), of("b", "2", 74, brand)]).sure),
    ).to.have.members(["a-1 b-1", "a-2 b-2"]);
    const between = matchSources([...both, of("b", "1", 34, brand)]);
    expect(between.sure).to.deep.equal([]);
    expect(ids(between.doubtful)).to.have.members(["a-1 b-1", "a-2 b-1"]);
  });

  it("leaves apart what a person has kept apart", () => {
    const pair = [of("a", "1", 0, { brand: "Q8" }), of("b", "1", 5, { brand: "Q8" })];
    expect(ids(matchSources(pair).sure)).to.deep.equal(["a-1 b-1"]);
    const apart = matchSources(pair, (a, b) => a === "a-1" && b === "b-1");
    expect(apart).to.deep.equal({ sure: [], doubtful: [] });
  });
});
