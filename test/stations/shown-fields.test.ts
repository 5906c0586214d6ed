import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import { isRefusal } from "#src/contract/refusals.ts";
import { shownMember } from "#src/domain/shown-source.ts";
import type { StationRow } from "#src/feed/feed.ts";
import { isFault } from "#src/import/read-text.ts";
import { rows } from "#src/infrastructure/db.ts";
import { editStation } from "#src/stations/edit-station.ts";
import {
  fileValue,
  type HandField,
  handFields,
  noEdits,
  setFile,
  valuesOf,
} from "#src/stations/hand-edits.ts";
import { joinsOf, mergeStation, splitStation } from "#src/stations/join-stations.ts";
import { keepShown, setFieldSources, shownFields, type Whole } from "#src/stations/shown-fields.ts";
import { by } from "#test/harness/by.ts";
import { importStations } from "#test/harness/import-stations.ts";
import { runOperator } from "#test/harness/operator.ts";
import { useFolder, useInstance } from "#test/harness/use.ts";

const source = fc.constantFrom<string>("osm", "it", "shop");
const text = fc.constantFrom("", "A", "B", "C");
const facts = fc.record({
  ...{ lat: fc.integer({ min: 1, max: 3 }), lon: fc.integer({ min: 1, max: 3 }) },
  ...{ name: text, brand: text, addr: text, grades_sold: text, opening_hours: text },
});
const part = fc.tuple(source, facts).map(([of, row]) => ({ source: of, ...row }));
const order = fc.uniqueArray(source, { maxLength: 3 });
const rules = fc
  .dictionary(fc.constantFrom(...handFields), order)
  .map((lists) => new Map(Object.entries(lists) as [HandField, string[]][]));
/** A station of osm that no rule has touched yet, with fields that are set by hand, and its parts. */
const whole = fc
  .record({ row: facts, byHand: fc.subarray([...handFields]), files: facts, parts: fc.array(part) })
  .map(({ row, byHand, files, parts }): Whole => {
    const edits = noEdits("n1");
    for (const field of byHand) setFile(edits, field, valuesOf({ id: "n1", ...files })[field]);
    return {
      ...{ station: { id: "n1", source: "osm", ...row }, edits, own: {} },
      parts: parts.map((one, n) => ({ id: `p${n}`, ...one })),
    };
  });
/** What imports say of each field of a station. */
const importedOf = ({ station, edits }: Omit<Whole, "parts">) =>
  handFields.map((field) => fileValue(edits, field) ?? valuesOf(station)[field]);

describe("the source that wins a field of a joined station", () => {
  it("is the first of the order that says something, else the station itself", () => {
    fc.assert(
      fc.property(fc.array(part, { minLength: 1 }), order, (members, sources) => {
        const says = ({ name }: StationRow): boolean => name !== "";
        const all = members.map((one, n) => ({ id: String(n), ...one })) as [
          StationRow & { source: string },
        ];
        const rank = (one: { source: string } & StationRow): number =>
          says(one) && sources.includes(one.source) ? sources.indexOf(one.source) : 9;
        const best = Math.min(...all.map(rank));
        const wanted = best === 9 ? all[0] : all.find((one) => rank(one) === best);
        expect(shownMember(all, sources, says)).to.equal(wanted);
      }),
    );
  });

  it("leaves what is set by hand, changes nothing the second time, and gives all back to a split station", () => {
    fc.assert(
      fc.property(whole, rules, rules, (given, first, then) => {
        const once = shownFields(given, first);
        for (const field of handFields)
          if (fileValue(given.edits, field) !== null)
            expect(valuesOf(once.station)[field]).to.deep.equal(valuesOf(given.station)[field]);
        const again = { ...once, parts: given.parts };
        expect(shownFields(again, first)).to.deep.equal(once);
        // From any state to any rules: the way there makes no difference.
        expect(shownFields(again, then)).to.deep.equal(shownFields(given, then));
        const alone = shownFields({ ...once, parts: [] }, first);
        expect(alone).to.deep.equal({ station: given.station, edits: given.edits, own: {} });
      }),
    );
  });

  it("goes on being shown when the station's own file comes again, which changes what a split gives back", () => {
    fc.assert(
      fc.property(whole, rules, facts, (given, lists, file) => {
        const once = shownFields(given, lists);
        const row = { id: "n1", ...file };
        const kept = keepShown(row, once.station, once.edits, once.own);
        for (const [n, field] of handFields.entries())
          expect(valuesOf(kept.station)[field]).to.deep.equal(
            once.own[field] === undefined ? valuesOf(row)[field] : importedOf(once)[n],
          );
        const next = { ...once, ...kept, station: { ...once.station, ...kept.station } };
        const plain = { ...next, edits: noEdits("n1"), parts: [] };
        expect(valuesOf(shownFields(plain, lists).station)).to.deep.equal(valuesOf(row));
      }),
    );
  });
});

describe("fields of stations that two sources have (decisions 14.42)", () => {
  const instance = useInstance();
  const olga = () => by(instance.db, "olga");
  const folder = useFolder();
  beforeEach(() => instance.db.raw("truncate changes, stations, field_sources cascade"));

  const run = async (source: string, id: string, metres: number, tags: object) => {
    const [path, lat] = [join(folder.path, `${source}.json`), 45.07 + metres / 111_195];
    const properties = { amenity: "fuel", brand: "Q8", "fuel:octane_95": "yes", ...tags };
    const geometry = { type: "Point", coordinates: [7.68, lat] };
    const features = [{ type: "Feature", id, geometry, properties }];
    await writeFile(path, JSON.stringify({ type: "FeatureCollection", features }));
    const done = await importStations(instance.db, { path, source });
    if (isFault(done)) throw new Error(done.fault);
    return done;
  };
  const osm = (tags: object = {}) =>
    run("osm", "1", 0, { name: "OSM", "ref:mise": "3474", ...tags });
  const register = (tags: object = {}) =>
    run("it", "3474", 8, { name: "Register", opening_hours: "24/7", ...tags });
  const rule = async (field: HandField, ...sources: string[]) => {
    const done = await setFieldSources(olga(), { sources }, field);
    if (isRefusal(done)) throw new Error(JSON.stringify(done));
    return done;
  };
  const stored = async (id: string) =>
    (
      await rows<{ name: string; hours: string; metres: number; stamps: number }>(
        instance.db,
        `select name, opening_hours as hours, round((lat - 45.07) * 111195)::int as metres, seq as stamps
         from stations join changes on station_id = id where id = ?`,
        [id],
      )
    )[0]!;
  const shown = async (id: string) => {
    const { stamps: _, ...facts } = await stored(id);
    return facts;
  };
  const own = { name: "OSM", hours: "", metres: 0 };
  const joined = { name: "OSM", hours: "24/7", metres: 8 };
  const [whole, part] = ["osm-1", "it-3474"];

  it("are those of the own source without rules, and by the rules at the join, at an act, and after", async () => {
    await osm();
    await register();
    expect(await shown(whole)).to.deep.equal(own);
    expect(await rule("position", "it", "osm")).to.include({ changed: 1, left: 0 });
    expect(await rule("opening_hours", "osm", "it")).to.include({ changed: 1 });
    expect(await shown(whole)).to.deep.equal(joined);
    expect((await joinsOf(instance.db, whole)).parts[0]!.shows).to.deep.equal([
      "opening_hours",
      "position",
    ]);
    expect(
      isRefusal(await setFieldSources(olga(), { sources: ["it", "osm"] }, "position")),
    ).to.equal(true);
    expect(await rule("position")).to.include({ changed: 1 });
    expect(await shown(whole)).to.deep.equal({ ...joined, metres: 0 });
    await instance.db.raw("truncate changes, stations cascade");
    await rule("position", "it");
    await osm();
    await register();
    expect(await shown(whole)).to.deep.equal(joined);
  });

  it("follow each import of either source, and an import of the same file writes nothing", async () => {
    await rule("position", "it");
    await rule("opening_hours", "osm", "it");
    await osm();
    await register();
    const before = await stored(whole);
    expect(await osm()).to.include({ changed: 0, unchanged: 1 });
    expect(await register()).to.include({ changed: 0, unchanged: 1 });
    expect(await stored(whole)).to.deep.equal(before);
    await register({ opening_hours: "Mo-Fr 06:00-22:00" });
    expect(await shown(whole)).to.deep.equal({ ...joined, hours: "Mo-Fr 06:00-22:00" });
    await osm({ name: "New", opening_hours: "Mo-Su 08:00-20:00" });
    expect(await shown(whole)).to.deep.equal({
      name: "New",
      hours: "Mo-Su 08:00-20:00",
      metres: 8,
    });
    await osm({ name: "New" });
    expect((await shown(whole)).hours).to.equal("Mo-Fr 06:00-22:00");
  });

  it("are each station's own again after a split, as its newest file says", async () => {
    for (const field of ["name", "position", "opening_hours"] as const) await rule(field, "it");
    await osm();
    await register();
    expect((await shown(whole)).name).to.equal("Register");
    await osm({ name: "Newest" });
    await register({ name: "Newer" });
    expect((await shown(whole)).name).to.equal("Newer");
    await splitStation(olga(), {}, part);
    expect(await shown(whole)).to.deep.equal({ ...own, name: "Newest" });
    expect(await shown(part)).to.deep.equal({ name: "Newer", hours: "24/7", metres: 8 });
    expect(await rows(instance.db, "select from station_own")).to.deep.equal([]);
    // A person joins them the other way round.
    await mergeStation(olga(), { other: part }, whole);
    expect((await shown(part)).name).to.equal("Newer");
  });

  it("are ruled on the command line, which names the faults, and shows what a part gives", async () => {
    await osm();
    await register();
    const operator = (...args: string[]) =>
      runOperator(instance.env, ...args, "--json", "--actor", "olga");
    const fields = async (...args: string[]) =>
      (await operator("source", "fields", ...args)).json as unknown;
    expect(await fields()).to.deep.equal([]);
    expect(await fields("hours", "osm,it")).to.deep.equal({
      ...{ field: "opening_hours", sources: ["osm", "it"], changed: 1, left: 0 },
    });
    expect(await fields()).to.deep.equal([{ field: "opening_hours", sources: "osm,it" }]);
    const card = await operator("station", "show", whole);
    expect(card.json.parts[0].shows).to.deep.equal(["opening_hours"]);
    for (const [args, fault] of [
      [["hours"], "name the sources"],
      [["colour", "osm"], "name, brand, address"],
      [["hours", "osm,osm"], "has a source twice"],
      [["hours", "o/m"], "letters"],
    ] as const) {
      const { code, err } = await operator("source", "fields", ...args);
      expect(code, err).to.not.equal(0);
      expect(err).to.include(fault);
    }
    expect(await fields("hours", "")).to.include({ changed: 1 });
    expect(await shown(whole)).to.deep.equal(own);
    const [entry] = await rows(
      instance.db,
      "select action, subject from operator_log order by id desc limit 1",
    );
    expect(entry).to.deep.equal({
      action: "station.field-sources",
      subject: "field opening_hours",
    });
  });

  it("stay as a person has set them, and go back to what the rules say", async () => {
    await rule("name", "it");
    await osm();
    await register();
    await editStation(olga(), { name: "Hand" }, whole);
    await osm({ name: "Newest" });
    await register({ name: "Newer" });
    await rule("position", "it");
    expect(await shown(whole)).to.deep.equal({ name: "Hand", hours: "", metres: 8 });
    await editStation(olga(), { from_file: ["name"] }, whole);
    expect((await shown(whole)).name).to.equal("Newer");
    await splitStation(olga(), {}, part);
    expect((await shown(whole)).name).to.equal("Newest");
  });

  it("of a station that becomes a part itself are its own again, and its parts count at the new one", async () => {
    await rule("name", "it");
    await osm();
    await register();
    const place = { lat: 45.2, lon: 7.68, brand: "Q8", name: "Shop", addr: "" };
    await instance.db("stations").insert({ id: "shop-1", source: "shop", ...place });
    await mergeStation(olga(), { other: "shop-1" }, whole);
    expect((await shown(whole)).name).to.equal("OSM");
    expect((await shown("shop-1")).name).to.equal("Register");
    await splitStation(olga(), {}, part);
    expect((await shown("shop-1")).name).to.equal("Shop");
  });
});
