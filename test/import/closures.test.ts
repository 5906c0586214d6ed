import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { loadConfig } from "#src/infrastructure/config.ts";
import { rows } from "#src/infrastructure/db.ts";
import { createClosureReader } from "#src/import/closures.ts";
import { importSource } from "#src/import/import-source.ts";
import { isFault } from "#src/import/read-text.ts";
import { createTimeReader } from "#src/import/source-times.ts";
import { sourceNamed } from "#src/import/source-list.ts";
import type { Source } from "#src/import/source.ts";
import { useFolder, useInstance } from "#test/harness/use.ts";

const now = Date.parse("2026-11-28T12:00:00Z");
const source = (closed: NonNullable<Source["closed"]>): Source => ({
  ...{ name: "x", title: "X", timezone: "Europe/Paris", closed },
  files: [{ name: "stations", read: { format: "json" } }],
});

describe("stations that are closed for now", () => {
  const french = {
    rows: "fermeture",
    since: "@debut",
    until: "@fin",
    final: { value: "@type", is: ["D"] },
  };
  const closure = (type: string, debut: string, fin = "") => ({
    fermeture: { "@type": type, "@debut": debut, "@fin": fin },
  });
  for (const [name, record, stored] of [
    ["since a time", closure("T", "2026-11-20 00:00:00"), "2026-11-19 23:00:00/"],
    [
      "from and until",
      closure("T", "2026-11-20 08:00:00", "2026-12-01 06:30:00"),
      "2026-11-20 07:00:00/2026-12-01 05:30:00",
    ],
    ["later", closure("T", "2026-12-24", "2026-12-25"), "2026-12-23 23:00:00/2026-12-25 23:00:00"],
    ["no more", closure("T", "2026-11-01 00:00:00", "2026-11-27 00:00:00"), ""],
    ["for good", closure("D", "2026-01-01 00:00:00"), null],
    ["for good, but not yet", closure("D", "2026-12-31 00:00:00"), "2026-12-30 23:00:00/"],
    ["not at all", { fermeture: "" }, ""],
    ["not at all, without a list", {}, ""],
    ["at a time that cannot be read", closure("T", "soon"), "/"],
    [
      "twice",
      {
        fermeture: [
          ...[closure("T", "2026-12-24", "2026-12-25"), closure("T", "2026-11-27 00:00:00")],
        ].map(({ fermeture }) => fermeture),
      },
      "2026-11-26 23:00:00/",
    ],
  ] as const)
    it(`are read with their dates: ${name}`, async () => {
      const read = await createClosureReader(source(french), new Map(), now, () => undefined);
      expect(read(record, "1")).to.equal(stored);
    });

  it("are read from a flag, and from an end alone", async () => {
    const flag = { when: { value: "en_mantenimiento", is: ["true", "1"] } };
    const byFlag = await createClosureReader(source(flag), new Map(), now, () => undefined);
    expect([{ en_mantenimiento: 1 }, { en_mantenimiento: false }].map((one) => byFlag(one, ""))) //
      .to.deep.equal(["/", ""]);
    const byEnd = await createClosureReader(
      source({ until: "until" }),
      ...[new Map(), now, () => undefined],
    );
    const ends = ["2026-12-01", "1.12.2026", "", "2026-11-27"];
    expect(ends.map((until) => byEnd({ until }, ""))).to.deep.equal([
      ...["/2026-12-01 23:00:00", "/2026-12-01 23:00:00", "", ""],
    ]);
  });

  it("have times in the usual forms", () => {
    const read = createTimeReader("UTC");
    for (const text of [
      ...["2026-11-28 14:20:00", "2026-11-28T14:20", "2026-11-28T17:20:00+03:00"],
      ...["28.11.2026 14:20", "28.11.2026, 14:20:00", "2026/11/28 14:20", "2026-11-28 14:20 UTC"],
      ...["2026-11-28 17:20 +0300", "1795875600", "1795875600000"],
    ])
      expect(read(text), text).to.equal(Date.parse("2026-11-28T14:20:00Z"));
    for (const text of ["", "soon", "31.02.2026 10:00", "11/12/2026 10:00", "2026-11-28", "28"])
      expect(read(text), text).to.equal(null);
  });

  describe("in imports", () => {
    const instance = useInstance();
    const folder = useFolder();
    const station = (id: string, temporary: boolean | null, permanent: boolean | null) => ({
      ...{ node_id: id, trading_name: `FORECOURT ${id}`, brand_name: "TEST" },
      ...{ temporary_closure: temporary, permanent_closure: permanent, fuel_types: ["E10"] },
      location: { latitude: 51.5 + Number(id) / 100, longitude: -0.7 },
      opening_times: {
        usual_days: {
          monday: { open: "06:05:00", close: "22:00:00", is_24_hours: false },
          tuesday: { open: "00:00:00", close: "00:00:00", is_24_hours: true },
          sunday: { open: "00:00:00", close: "00:00:00", is_24_hours: false },
        },
      },
    });
    const imported = async (...stations: object[]) => {
      const path = join(folder.path, "pfs.json");
      await writeFile(path, JSON.stringify(stations));
      const config = loadConfig({ DATABASE_URL: instance.databaseUrl });
      const done = await importSource(instance.db, config, {
        ...{ source: sourceNamed("gb-fuel-finder")!, paths: [path], dryRun: false },
        ...{ replaceSource: true, refusals: undefined, progress: () => undefined },
        ...{ waiting: () => undefined, touched: () => undefined },
      });
      if (isFault(done)) throw new Error(done.fault);
      const sql = `select id, closed, opening_hours, removed_at is not null as gone, seq
         from stations join changes on station_id = id order by id`;
      return { ...done.stations!, stored: await rows<Record<string, unknown>>(instance.db, sql) };
    };

    it("stay in service, until the file says so no more, and each change is in the feed", async () => {
      const hours = "Mo 06:05-22:00, Tu 00:00-24:00, Su off";
      const first = await imported(station("1", false, null), station("2", true, false));
      expect(first.stored[0]).to.include({ closed: "", opening_hours: hours, gone: false });
      expect(first.stored[1]).to.include({ closed: "/", opening_hours: hours, gone: false });
      const again = await imported(station("1", false, null), station("2", true, false));
      expect(again).to.include({ changed: 0, unchanged: 2 });
      const open = await imported(station("1", false, true), station("2", false, false));
      expect(open).to.include({ changed: 1, removed: 1 });
      expect(open.stored.map(({ closed, gone }) => [closed, gone])).to.deep.equal([
        ["", true],
        ["", false],
      ]);
      expect(open.stored[1]!["seq"]).to.be.greaterThan(first.stored[1]!["seq"] as number);
    });
  });
});
