import { noSales } from "#src/domain/vocabulary.ts";
import { expect } from "chai";
import fc from "fast-check";
import type { StationRow } from "#src/feed/feed.ts";
import { isRefusal } from "#src/contract/refusals.ts";
import { cleanText } from "#src/import/clean-text.ts";
import { idsOfSource, saveStations } from "#src/import/apply-stations.ts";
import { type Db, inTransaction, rows } from "#src/infrastructure/db.ts";
import { editStation, findStation, type StationCard } from "#src/stations/edit-station.ts";
import { type HandField, noEdits, saveEdits } from "#src/stations/hand-edits.ts";
import { closeStation, reopenStation } from "#src/stations/station-service.ts";
import { by } from "#test/harness/by.ts";
import { until } from "#test/flow/client.ts";
import { useInstance } from "#test/harness/use.ts";

const place: StationRow = {
  ...{ id: "n1", lat: 55, lon: 37, brand: "A", name: "B", addr: "C" },
  ...noSales,
};

describe("edits by hand and imports, in the database (decisions 13.16, 14.5, 14.6)", () => {
  const instance = useInstance();
  let db: Db;

  before(() => void ({ db } = instance));
  beforeEach(async () => {
    await db.raw("truncate changes, stations cascade");
    await importRow({});
  });

  const importRow = (changes: Partial<typeof place>, dryRun = false) =>
    saveStations(db, "osm", { stations: [{ ...place, ...changes }] }, dryRun, () => undefined);
  /** An import of the whole extract that lacks the station. */
  const importWithout = async () => {
    const { inService, closed } = await idsOfSource(db, "osm");
    return saveStations(db, "osm", { gone: [...inService, ...closed] }, false, () => undefined);
  };
  const edit = (wish: Parameters<typeof editStation>[1]) => editStation(by(db, "olga"), wish, "n1");
  const stored = async (): Promise<StationCard> => (await findStation(db, "n1"))!;
  const newest = async (): Promise<unknown> =>
    (await rows(db, "select seq, removed from changes where station_id = 'n1'"))[0];

  it("keeps grades and hours that were set by hand, alone too, until they are given back", async () => {
    await importRow({ grades_sold: "92,95", opening_hours: "24/7" });
    expect(await importRow({ grades_sold: "92,95", opening_hours: "24/7" })).to.include({
      ...{ changed: 0, unchanged: 1 },
    });
    const edited = await edit({ grades_sold: "dt, 95" });
    expect(edited).to.deep.include({
      before: { grades_sold: "92,95" },
      after: { grades_sold: "95,ДТ" },
    });
    expect(await importRow({ grades_sold: "92", opening_hours: "" })).to.include({
      ...{ added: 0, changed: 1, unchanged: 0, kept: 1 },
    });
    expect(await stored()).to.deep.include({ grades_sold: "95,ДТ", opening_hours: "" });
    expect((await stored()).by_hand).to.include({ grades_sold: "92", opening_hours: null });
    await edit({ from_file: ["grades_sold"] });
    expect(await stored()).to.include({ grades_sold: "92" });
    expect(await edit({ grades_sold: "93" })).to.satisfy(isRefusal);
    expect(await edit({ opening_hours: "from six to ten" })).to.satisfy(isRefusal);
    expect(await edit({ opening_hours: "Mo-Su 06:00-22:00" })).not.to.satisfy(isRefusal);
    expect(await importRow({ grades_sold: "92", opening_hours: "off" })).to.include({ kept: 1 });
    expect(await stored()).to.include({ opening_hours: "Mo-Su 06:00-22:00" });
    expect(await edit({ opening_hours: "x".repeat(256) })).to.satisfy(isRefusal);
  });

  it("holds a field against imports and lets the others through, until it is given back", async () => {
    await edit({ name: "By hand" });
    const applied = await importRow({ name: "New", addr: "New street" });
    expect(applied).to.include({ added: 0, changed: 1, unchanged: 0, kept: 1 });
    expect(await stored()).to.deep.include({ name: "By hand", addr: "New street" });
    const before = await newest();
    expect(await importRow({ name: "Newer", addr: "New street" }, true)).to.include({ kept: 1 });
    expect((await stored()).by_hand.name).to.equal("New");
    expect(await importRow({ name: "Newer", addr: "New street" })).to.include({ unchanged: 1 });
    expect(await newest()).to.deep.equal(before);
    const given = await edit({ from_file: ["name", "brand"] });
    expect(given).to.deep.include({ before: { name: "By hand" }, after: { name: "Newer" } });
    expect(await stored()).to.deep.include({ name: "Newer" });
    expect(await rows(db, "select * from station_edits")).to.deep.equal([]);
    expect(await importRow({ name: "Newest" })).to.include({ changed: 1, kept: 0 });
  });

  it("keeps a closed station closed, and lets its other facts follow the file", async () => {
    await closeStation(by(db, "olga"), {}, "n1");
    expect(await importRow({ addr: "Elsewhere" })).to.include({ changed: 1, kept: 1 });
    expect(await stored()).to.include({ in_service: false, addr: "Elsewhere" });
    expect(await newest()).to.include({ removed: true });
    expect(await importRow({ addr: "Elsewhere" })).to.include({ unchanged: 1, kept: 1 });
    await reopenStation(by(db, "olga"), {}, "n1");
    expect(await stored()).to.deep.include({ in_service: true });
    expect(await rows(db, "select * from station_edits")).to.deep.equal([]);
    expect(await importWithout()).to.include({ removed: 1, kept: 0 });
  });

  it("keeps a station in service that imports lack, once it was reopened, until one has it again", async () => {
    await importWithout();
    await reopenStation(by(db, "olga"), {}, "n1");
    expect(await importWithout()).to.include({ removed: 0, kept: 1 });
    expect((await stored()).in_service).to.equal(true);
    await importRow({});
    expect((await stored()).by_hand.in_service).to.equal(null);
    expect(await importWithout()).to.include({ removed: 1, kept: 0 });
  });

  it("refuses texts and places that an import would not take, and changes nothing", async () => {
    const logged = () => rows(db, "select count(*) from operator_log");
    const before = [await stored(), await newest(), await logged()];
    for (const [wish, field] of [
      [{ name: "x".repeat(121) }, "name"],
      [{ brand: "x".repeat(81) }, "brand"],
      [{ addr: "x".repeat(201) }, "addr"],
      [{ position: { lat: 90.1, lon: 0 } }, "lat"],
      [{ position: { lat: Number.NaN, lon: 0 } }, "lat"],
      [{ position: { lat: 0, lon: -180.1 } }, "lon"],
      [{ position: { lat: 0, lon: 0 } }, "lat"],
      [{ name: "X", from_file: ["name" as const] }, "from_file"],
      [{ name: "X", was: { name: "not B" } }, "name"],
      [{ brand: "X", was: { position: { lat: 1, lon: 1 } } }, "position"],
    ] satisfies [Parameters<typeof edit>[0], string][])
      expect(await edit(wish), field).to.have.nested.property("detail[0].loc[1]", field);
    expect(await edit({ name: " B ", from_file: ["addr"] })).to.include({ code: "already-done" });
    expect([await stored(), await newest(), await logged()]).to.deep.equal(before);
  });

  it("takes as many letters of any alphabet as an import, in one line", async () => {
    for (const [field, most] of [
      ["name", 120],
      ["brand", 80],
      ["addr", 200],
    ] as const)
      for (const count of [most - 1, most, most + 1]) {
        const text = `${"😀".repeat(count - 2)} Й`;
        const edited = await edit({ [field]: ` ${text.replace(" ", "\u200b\n")} ` });
        expect(isRefusal(edited), `${field} ${count}`).to.equal(count > most);
        if (count <= most) expect((await stored())[field]).to.equal(text);
        expect([...cleanText(text, most)]).to.have.length(count > most ? most - 1 : count);
      }
  });

  it("lets the edits of two operators at once both stand, and refuses the one that saw an older value", async () => {
    await Promise.all([edit({ name: "One" }), edit({ brand: "Two" })]);
    expect(await stored()).to.include({ name: "One", brand: "Two" });
    const was = { name: "One" };
    const both = await Promise.all([edit({ name: "X", was }), edit({ name: "Y", was })]);
    const lost = both.filter(isRefusal);
    expect(lost).to.have.length(1);
    const { name } = await stored();
    const why = `Has changed meanwhile: it is now "${name}"`;
    expect(lost[0]!.detail).to.deep.equal([
      { loc: ["body", "name"], msg: why, type: "value_error" },
    ]);
  });

  it("holds an edit that is committed while an import waits for the station", async () => {
    let importing: Promise<unknown> = Promise.resolve();
    await inTransaction(db, async (tx) => {
      await rows(tx, "select id from stations where id = 'n1' for no key update");
      importing = importRow({ name: "New" });
      await until(
        () =>
          rows(
            db,
            "select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
          ),
        ({ length }) => length > 0,
      );
      await saveEdits(tx, { ...noEdits("n1"), file_name: "B" });
      await rows(tx, "update stations set name = 'By hand' where id = 'n1'");
    });
    expect(await importing).to.include({ kept: 1 });
    expect(await stored()).to.deep.include({ name: "By hand" });
    expect((await stored()).by_hand.name).to.equal("New");
  });

  it("serves after any order of acts and imports what was set last, by hand before the file", async () => {
    const word = fc.constantFrom("A", "B", "C", "D");
    const point = fc.record({ lat: fc.constantFrom(55, 55.5), lon: fc.constantFrom(37, 38) });
    const field = fc.constantFrom<HandField>("name", "position");
    const step = fc.oneof(
      fc.record({ kind: fc.constant("edit" as const), name: word }),
      fc.record({ kind: fc.constant("move" as const), to: point }),
      fc.record({ kind: fc.constant("back" as const), field }),
      fc.record({ kind: fc.constant("close" as const) }),
      fc.record({ kind: fc.constant("reopen" as const) }),
      fc.record({ kind: fc.constant("lack" as const) }),
      fc.record({ kind: fc.constant("file" as const), name: word, at: point }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), async (steps) => {
        await db.raw("truncate changes, stations cascade");
        await importRow({});
        const file = { name: "B", at: { lat: 55, lon: 37 }, has: true };
        const hand: { name?: string; at?: object; open?: boolean } = {};
        const isOpen = (): boolean => hand.open ?? file.has;
        const shown = () => ({ name: hand.name ?? file.name, at: hand.at ?? file.at });
        for (const one of steps) {
          if (one.kind === "edit") {
            if (one.name !== shown().name) hand.name = one.name;
            await edit({ name: one.name });
          } else if (one.kind === "move") {
            if (JSON.stringify(one.to) !== JSON.stringify(shown().at)) hand.at = one.to;
            await edit({ position: one.to });
          } else if (one.kind === "back") {
            delete hand[one.field === "name" ? "name" : "at"];
            await edit({ from_file: [one.field] });
          } else if (one.kind === "close") {
            if (isOpen()) hand.open = false;
            await closeStation(by(db, "olga"), {}, "n1");
          } else if (one.kind === "reopen") {
            if (!isOpen() && file.has) delete hand.open;
            else if (!isOpen()) hand.open = true;
            await reopenStation(by(db, "olga"), {}, "n1");
          } else if (one.kind === "lack") {
            file.has = false;
            await importWithout();
          } else {
            Object.assign(file, { name: one.name, at: one.at, has: true });
            if (hand.open === true) delete hand.open;
            await importRow({ name: one.name, ...one.at });
          }
          const { name, lat, lon, in_service: open, by_hand: hands } = await stored();
          expect({ name, at: { lat, lon }, open }).to.deep.equal({ ...shown(), open: isOpen() });
          expect([hands.name, hands.position, hands.in_service]).to.deep.equal([
            hand.name === undefined ? null : file.name,
            hand.at === undefined ? null : file.at,
            hand.open ?? null,
          ]);
          expect(await newest()).to.include({ removed: !open });
        }
      }),
      { numRuns: 40 },
    );
  });
});
