import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import { isFault } from "#src/import/read-text.ts";
import { parseAt } from "#src/import/json-items.ts";
import { importSource } from "#src/import/import-source.ts";
import { importStatuses } from "#src/import/import-statuses.ts";
import { sourceFromMap } from "#src/import/source-list.ts";
import { createHash } from "node:crypto";
import { rows } from "#src/infrastructure/db.ts";
import { formatTime } from "#src/domain/time.ts";
import {
  doubtfulPairs,
  keepStationsApart,
  mergeStation,
  splitStation,
} from "#src/stations/join-stations.ts";
import { earlierIdOf, idOf, stationsByOwnId } from "#src/stations/own-ids.ts";
import { by } from "#test/harness/by.ts";
import { usualImport } from "#test/harness/import-stations.ts";
import { useFolder, useInstance } from "#test/harness/use.ts";

/** A row of a file: its own id, how many steps of 300 m to the north it stands, and what it says. */
interface Row {
  own: string;
  at: number;
  brand?: string;
  addr?: string;
}

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
const hash = (own: string): string => createHash("sha256").update(own).digest("hex").slice(0, 23);

describe("ids of a source", () => {
  const instance = useInstance();
  const folder = useFolder();
  beforeEach(() => db().raw("truncate seeds, changes, stations, cities cascade"));
  const db = () => instance.db;

  let files = 0;
  const saved = async (text: string): Promise<string> => {
    const path = join(folder.path, `${(files += 1)}.csv`);
    await writeFile(path, text);
    return path;
  };
  const tried = async (list: readonly Row[], { source = "reg", ...told } = {}) => {
    const lines = list.map(({ own, at, brand = "Shell", addr = "" }) =>
      [own, 50 + at * 0.0027, 14.1234567, brand, addr].map((one) => quoted(String(one))).join(),
    );
    const path = await saved(["id,lat,lon,brand,addr", ...lines, ""].join("\n"));
    return importSource(db(), instance.config, {
      ...usualImport,
      source: sourceFromMap("id=id,lat=lat,lon=lon,brand=brand,addr=addr", source),
      ...{ paths: [path], touched: () => undefined, ...told },
    });
  };
  const run = async (list: readonly Row[], told: object = { replaceSource: true }) => {
    const done = await tried(list, told);
    if (isFault(done)) throw new Error(done.fault);
    return done.stations!;
  };
  /** Where the stations in service stand, by their ids; `first` as an id that was named before. */
  const placed = async (): Promise<Record<string, number>> => {
    const sql = "select id, lat from stations where removed_at is null order by id";
    const found = await rows<{ id: string; lat: number }>(db(), sql);
    return Object.fromEntries(found.map(({ id, lat }) => [id, Math.round((lat - 50) / 0.0027)]));
  };
  const wholeOf = async (id: string): Promise<string | undefined> => {
    const sql =
      "select into_id as id from station_pairs where verdict = 'joined' and station_id = ?";
    return (await rows<{ id: string }>(db(), sql, [id]))[0]?.id;
  };

  const letters = [..."aАБ-_ /=.é\u0301\u{1F6E2}7"];
  const ownId = fc.oneof(
    fc.string({ unit: fc.constantFrom(...letters), minLength: 1, maxLength: 80 }),
    fc.string({ unit: "binary", minLength: 1, maxLength: 12 }),
    fc.constantFrom("x".repeat(70), hash("x".repeat(70)), "А-12", hash("А-12"), "-12", "007", "7"),
  );

  it("never meet, whatever their letters and length, and are ids of ours", () => {
    const many = fc.uniqueArray(ownId, { minLength: 2, maxLength: 20 });
    fc.assert(
      fc.property(many, fc.constantFrom("a", "reg", "s".repeat(40)), (owns, source) => {
        const ids = owns.map((own) => idOf(source, own));
        expect(new Set(ids).size).to.equal(owns.length);
        for (const id of ids) expect(id).to.match(/^[A-Za-z0-9_-]{1,64}$/);
      }),
      { numRuns: 1000 },
    );
    expect(idOf("reg", "plain_3-A")).to.equal("reg-plain_3-A");
    expect(idOf("reg", "\ud800")).to.not.equal(idOf("reg", "\ud801"));
  });

  it("keep all digits that JSON writes", () => {
    const text =
      '{"id":9007199254740993,"at":[50.12345678901234567,9007199254740991],"t":"1:12345678901234567,"}';
    expect(parseAt(text, "this", 1)).to.deep.equal({
      ...{ id: "9007199254740993", t: "1:12345678901234567," },
      at: [50.123456789012344, 9007199254740991],
    });
  });

  it("stay with their stations in any order of the file", async () => {
    const many = fc.uniqueArray(
      ownId.map((own) => own.replace(/[\0\r\n"\p{Cs}]/gu, "").trim()).filter((own) => own !== ""),
      { minLength: 2, maxLength: 8 },
    );
    await fc.assert(
      fc.asyncProperty(
        many.chain((owns) =>
          fc.tuple(fc.constant(owns), fc.shuffledSubarray(owns, { minLength: owns.length })),
        ),
        async ([owns, again]) => {
          await db().raw("truncate changes, stations, cities cascade");
          const at = new Map(owns.map((own, n) => [own, n]));
          const listOf = (some: string[]) => some.map((own) => ({ own, at: at.get(own)! }));
          expect(await run(listOf(owns))).to.include({ added: owns.length, refused: 0 });
          const before = await placed();
          expect(await run(listOf(again))).to.include({ unchanged: owns.length });
          expect(await placed()).to.deep.equal(before);
        },
      ),
      { numRuns: 25 },
    );
  });

  it("of two sources whose names meet are two stations", async () => {
    await run([{ own: "b-c", at: 0 }], { source: "a" });
    await run(
      [
        { own: "c", at: 5 },
        { own: "d", at: 6 },
      ],
      { source: "a-b" },
    );
    await run(
      [
        { own: "d", at: 6 },
        { own: "c", at: 5 },
      ],
      { source: "a-b" },
    );
    const found = await placed();
    expect(found).to.include({ "a-b-c": 0, "a-b-d": 6 });
    expect(Object.values(found).sort()).to.deep.equal([0, 5, 6]);
    const owns = await stationsByOwnId(db(), ["c", "b-c", "a-b:c"]);
    expect(found[owns.get("c")![0]!.id]).to.equal(5);
    expect(owns.get("b-c")![0]).to.include({ id: "a-b-c", source: "a" });
    expect(owns.get("a-b:c")![0]!.id).to.equal(owns.get("c")![0]!.id);
  });

  describe("that an earlier version has cut", () => {
    const stored = (...list: [id: string, at: number, brand?: string][]) =>
      Promise.all(
        list.map(([id, at, brand = "Shell"]) =>
          db()("stations").insert({
            id,
            source: "reg",
            lat: 50 + at * 0.0027,
            lon: 14.1234567,
            brand,
            name: brand,
          }),
        ),
      );

    it("stay, each with the row that stands there", async () => {
      await stored(
        [earlierIdOf("reg", "А-12"), 0],
        ["reg-PL-1", 20],
        ["reg-abc", 30],
        ["reg-plain", 40],
      );
      const list = [
        { own: "Б-12", at: 10 },
        { own: "В-12", at: 15 },
        { own: "А-12", at: 0 },
        // Corrected by 600 m: it is the only one that can have been this id.
        { own: "PL/1", at: 22 },
        { own: "abc==", at: 30 },
        { own: "plain", at: 40 },
      ];
      await run(list);
      const found = await placed();
      expect(found).to.include({ "reg---12": 0, "reg-PL-1": 22, "reg-abc": 30, "reg-plain": 40 });
      expect(Object.values(found).sort((a, b) => a - b)).to.deep.equal([0, 10, 15, 22, 30, 40]);
      expect(await wholeOf(idOf("reg", "А-12"))).to.equal("reg---12");
      expect(await run(list.toReversed())).to.include({ unchanged: 6, renumbered: 0 });
      expect(await placed()).to.deep.equal(found);
      const owns = await stationsByOwnId(db(), ["А-12", "PL/1", "abc=="]);
      expect([...owns.values()].flat().map(({ id }) => id)).to.deep.equal([
        "reg---12",
        "reg-PL-1",
        "reg-abc",
      ]);
    });

    it("are no other station's that comes to be written so", async () => {
      await stored(["reg---12", 0]);
      await run([{ own: "Б-12", at: 40 }]);
      expect(await placed()).to.not.have.property("reg---12");
      await run([
        { own: "А-12", at: 0 },
        { own: "--12", at: 50 },
        { own: "Б-12", at: 40 },
      ]);
      expect(Object.values(await placed()).sort()).to.deep.equal([0, 40, 50]);
    });
  });

  describe("that change", () => {
    const town = (n: number): Row => ({
      own: `100${n}`,
      at: n,
      brand: n % 2 ? "Shell" : "Esso",
      addr: `Main Street ${n}`,
    });
    const towns = Array.from({ length: 12 }, (_, n) => town(n));
    const renamed = (own: (n: number) => string): Row[] =>
      towns.map((row, n) => ({ ...row, own: own(n) }));

    it("leave one station, which answers to both", async () => {
      await run(towns);
      const before = await placed();
      const next = renamed((n) => (n === 4 ? "2004" : `100${n}`));
      expect(await run(next, { replaceSource: true, dryRun: true })).to.include({
        added: 0,
        removed: 0,
        renumbered: 1,
      });
      expect(await run(next)).to.include({ added: 0, removed: 0, renumbered: 1, unchanged: 12 });
      expect(await placed()).to.deep.equal(before);
      expect(await wholeOf("reg-2004")).to.equal("reg-1004");
      expect(await run(next.toReversed())).to.include({ unchanged: 12, renumbered: 0, removed: 0 });
      // Again, and back.
      expect(await run(renamed((n) => (n === 4 ? "3004" : `100${n}`)))).to.include({
        unchanged: 12,
        renumbered: 1,
      });
      expect(await run(towns)).to.include({ unchanged: 12, renumbered: 0 });
      expect(await placed()).to.deep.equal(before);
      const owns = await stationsByOwnId(db(), ["1004", "2004", "3004"]);
      expect([...owns.values()].flat().map(({ id }) => id)).to.deep.equal(
        Array(3).fill("reg-1004"),
      );
    });

    for (const [what, own] of [
      ["a register that is numbered anew", (n: number) => `77${n}`],
      ["numbers that move on by one", (n: number) => `100${n + 1}`],
      ["two stations that exchange theirs", (n: number) => `100${n < 2 ? 1 - n : n}`],
    ] as const)
      for (const replaceSource of [true, false])
        it(`leave each station as it is: ${what}${replaceSource ? "" : ", without --replace-source"}`, async () => {
          await run(towns);
          const before = await placed();
          expect(await run(renamed(own), { replaceSource })).to.include({
            added: 0,
            unchanged: 12,
            removed: 0,
          });
          expect(await placed()).to.deep.equal(before);
          expect(await run(renamed(own).toReversed())).to.include({
            added: 0,
            unchanged: 12,
            removed: 0,
            renumbered: 0,
          });
          expect(await placed()).to.deep.equal(before);
          const owns = await stationsByOwnId(
            db(),
            renamed(own).map((row) => row.own),
          );
          for (const [n, row] of renamed(own).entries())
            expect(
              owns.get(row.own)!.map(({ id }) => id),
              row.own,
            ).to.deep.equal([`reg-100${n}`]);
        });

    it("are of a new station where an old number is given to one elsewhere", async () => {
      await run(towns);
      await run(renamed((n) => (n === 4 ? "2004" : `100${n}`)));
      const next = [...renamed((n) => (n === 4 ? "2004" : `100${n}`)), { own: "1004", at: 60 }];
      expect(await run(next)).to.include({ added: 1, removed: 0 });
      expect(await placed()).to.include({ "reg-1004": 4 });
      expect(Object.values(await placed())).to.include(60);
      expect(await run(next.toReversed())).to.include({ unchanged: 13 });
    });

    it("are asked for where it is doubtful, and the old station stays until somebody decides", async () => {
      const bare = towns.map(({ own, at, brand }) => ({ own, at, brand: brand! }));
      const sold = bare.map((row, n) =>
        n === 3 || n === 7 ? { ...row, own: `300${n}`, brand: "Agip" } : row,
      );
      await run(bare);
      const before = await placed();
      for (let times = 0; times < 2; times += 1) {
        const done = await run(sold);
        expect(done).to.include({ asked: 2, removed: 0, renumbered: 0 });
        expect(await placed()).to.deep.equal({ ...before, "reg-3003": 3, "reg-3007": 7 });
      }
      const pairs = await doubtfulPairs(db());
      expect(pairs.map(({ station, into }) => [station.id, into.id]).sort()).to.deep.equal([
        ["reg-3003", "reg-1003"],
        ["reg-3007", "reg-1007"],
      ]);
      await mergeStation(by(db(), "olga"), { other: "reg-1003" }, "reg-3003");
      await keepStationsApart(by(db(), "olga"), { other: "reg-1007" }, "reg-3007");
      const { "reg-1007": gone, ...left } = before;
      expect(await run(sold)).to.include({ asked: 0 });
      expect(await placed()).to.deep.equal({ ...left, "reg-3007": gone });
      expect(await run(sold)).to.include({ unchanged: 12, removed: 0 });
      const [shown] = await rows(db(), "select brand from stations where id = 'reg-1003'");
      expect(shown).to.deep.equal({ brand: "Agip" });
      // A mistake is taken back for good.
      await splitStation(by(db(), "olga"), {}, "reg-3003");
      await run(sold);
      expect(await placed())
        .to.include({ "reg-3003": 3 })
        .and.not.have.property("reg-1003");
    });

    it("are never let go by what a refusal advises, if places do not tell which is which", async () => {
      await run(towns);
      const elsewhere = renamed((n) => `77${n}`).map((row) => ({
        ...row,
        at: row.at + 0.5,
        addr: "",
      }));
      const fault = await tried(elsewhere, { replaceSource: true } as object);
      if (!isFault(fault)) throw new Error("not refused");
      expect(fault.fault)
        .to.include("may have numbered its stations anew")
        .and.not.include("--force");
      expect(await run(elsewhere, {})).to.include({ added: 12, removed: 0 });
    });
  });

  it("find the stations of statuses, and are named where several sources have them", async () => {
    await run([
      { own: "PL/1/EXP", at: 0 },
      { own: "0a".repeat(32), at: 5 },
      { own: "7", at: 10 },
    ]);
    await run(
      [
        { own: "7", at: 20 },
        { own: "8", at: 25 },
      ],
      { source: "other" },
    );
    const at = formatTime(Date.now() - 60_000);
    const owns = ["PL/1/EXP", "0a".repeat(32), "7", "8", "reg:7", "nobody"];
    const path = await saved(
      [
        "station_id,status,fuels_now,fuels_no,updated",
        ...owns.map((own) => `${own},no,,,${at}`),
        "",
      ].join("\n"),
    );
    const refusals = join(folder.path, "refused.csv");
    const told = {
      ...usualImport,
      path,
      format: "csv" as const,
      stationsPath: null,
      notSoldMs: 0,
      maxAgeMs: 86_400_000,
      asOf: null,
      touched: () => undefined,
    };
    const done = await importStatuses(db(), instance.config, { ...told, source: "csv", refusals });
    expect(done).to.deep.include({
      added: 4,
      reasons: { "ambiguous-id": 1, "unknown-station": 1 },
    });
    expect(await readFile(refusals, "utf8"))
      .to.include("7,station_id,")
      .and.include("other:7 (other-7), reg:7 (reg-7)");
    // The name of their source chooses.
    expect(
      await importStatuses(db(), instance.config, { ...told, source: "other" }),
    ).to.deep.include({
      reasons: { "unknown-station": 1 },
    });
  });
});
