import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { loadConfig, type Config } from "#src/infrastructure/config.ts";
import { createDb, rows, type Db } from "#src/infrastructure/db.ts";
import { formatTime } from "#src/domain/time.ts";
import { importStatuses, type StatusFileOptions } from "#src/import/import-statuses.ts";
import { isFault } from "#src/import/read-text.ts";
import { useFolder, useInstance } from "#test/harness/use.ts";

const hourMs = 3_600_000;
const ago = (hours: number): string => formatTime(Date.now() - hours * hourMs);
/** What a clock in Paris showed so many hours ago, as the French feed writes it. */
const parisAgo = (hours: number): string =>
  new Date(Date.now() - hours * hourMs)
    .toLocaleString("sv-SE", { timeZone: "Europe/Paris" })
    .replace(" ", "T");

describe("importing statuses", () => {
  const instance = useInstance();
  let config: Config;
  let db: Db;
  const folder = useFolder();

  before(async () => {
    config = loadConfig({ DATABASE_URL: instance.databaseUrl });
    db = createDb(config, "test", 4);
  });
  after(async () => {
    await db.destroy();
  });
  beforeEach(async () => {
    await db.raw("truncate seeds, station_status, changes, stations cascade");
    await db.raw(
      `insert into stations (id, source, lat, lon, removed_at) values
       ('n1', 'test', 55, 37, null), ('n2', 'test', 55.01, 37, null), ('w3', 'test', 55.02, 37, null),
       ('fr-7', 'test', 46, 5, null), ('n9', 'test', 55.03, 37, now())`,
    );
  });

  const touched: string[] = [];
  const run = async (content: string | Buffer, more: Partial<StatusFileOptions> = {}) => {
    const path = join(folder.path, "file.csv");
    await writeFile(path, content);
    touched.length = 0;
    return importStatuses(db, config, {
      path,
      format: "csv",
      stationsPath: null,
      source: "csv",
      maxAgeMs: 24 * hourMs,
      notSoldMs: 30 * 24 * hourMs,
      asOf: null,
      dryRun: false,
      progress: () => undefined,
      waiting: () => undefined,
      touched: (ids) => touched.push(...ids),
      ...more,
    });
  };
  const summary = async (content: string | Buffer, more: Partial<StatusFileOptions> = {}) => {
    const done = await run(content, more);
    if (isFault(done)) throw new Error(done.fault);
    const { read, added, changed, unchanged, merged, refused } = done;
    expect(added + changed + unchanged + merged + refused).to.equal(read);
    expect(Object.values(done.reasons).reduce((sum, count) => sum + count, 0)).to.equal(refused);
    return done;
  };
  const seeds = () =>
    rows<{ station_id: string; status: string; now: string; no: string; updated: Date }>(
      db,
      `select station_id, status, array_to_string(fuels_now, ',') as now, array_to_string(fuels_no, ',') as no, updated
       from seeds order by station_id, imported_at`,
    );

  describe("from the plain CSV", () => {
    const heading = "station_id,status,fuels_now,fuels_no,updated";
    const csv = (...lines: string[]): string => `${[heading, ...lines].join("\n")}\n`;

    it("reads grades and times in their usual spellings, and names the line, field and value of the others", async () => {
      const words: Record<string, string> = {
        ...{ "АИ-95, АИ-92": "92,95", "95,G-95": "95", А95: "95", A95: "95", "AI 95": "95" },
        ...{ "95 E10": "95", "АИ-95-К5": "95", "Super 98": "98", diesel: "ДТ", Diesel: "ДТ" },
        ...{ "ДТ-З": "ДТ", Gazole: "ДТ", "АИ-100/ДТ": "100,ДТ", e10: "95" },
        ...{ "V-Power 95": "95", "Super Plus 98": "98", "дизель Евро-5": "ДТ", "Gasóleo A": "ДТ" },
        ...{ "Benzyna 95": "95", "92-й": "92", "G-Drive 100": "100", "диз. топливо": "ДТ" },
        ...{ "Diesel B7": "ДТ", b10: "ДТ", "Бензин АИ-92": "92", "АІ-95": "95", "Супер 95": "95" },
        ...{ "АИ-95-Евро-6": "95", "Gasolina 98 E5": "98", "ДТ зимнее": "ДТ", "92#": "92" },
      };
      const names = Object.keys(words);
      await db.raw(
        "insert into stations (id, source, lat, lon) select 's' || n, 'test', 10, n from generate_series(0, 40) n",
      );
      const lines = names.map((name, n) => `s${n},yes,"${name}",,${ago(1)}`);
      expect(await summary(csv(...lines))).to.include({ added: names.length, refused: 0 });
      const stored = new Map((await seeds()).map((one) => [one.station_id, one.now]));
      for (const [n, name] of names.entries())
        expect(stored.get(`s${n}`), name).to.equal(words[name]);
      const day = ago(1).slice(0, 10).split("-").reverse().join(".");
      const refusals = join(folder.path, "refused.csv");
      const old = ago(30);
      const bad = [
        `s30,limit,95,,${ago(1)}`,
        `s31,yes,A195,,${ago(1)}`,
        `s32,yes,95,АИ-95,${ago(1)}`,
        "s33,yes,95,,yesterday",
        `s34,yes,95,,${old}`,
        `s404,yes,95,,${ago(1)}`,
        `s35,yes,95,,${day} ${ago(1).slice(11, 16)}`,
      ];
      const done = await summary(csv(...bad), { refusals });
      expect(done).to.include({ added: 1, refused: 6 });
      expect((await readFile(refusals, "utf8")).trim().split("\n").slice(1).sort()).to.deep.equal([
        "line 2,s30,status,limit,bad-status",
        "line 3,s31,fuels_now,A195,bad-grade",
        "line 4,s32,fuels_no,АИ-95,bad-grade",
        "line 5,s33,updated,yesterday,bad-time",
        `line 6,s34,updated,${old},too-old`,
        "line 7,s404,station_id,s404,unknown-station",
      ]);
    });

    it("adds up, names what it left out, and does nothing the second time", async () => {
      const file = csv(
        `n1,yes,"95, 92;дизель",98,${ago(1)}`,
        `n2,no,,,${ago(3)}`,
        `n2,LOW,,95,${ago(2)}`,
        `n404,yes,,,${ago(1)}`,
        `n9,yes,,,${ago(1)}`,
        `w3,plenty,,,${ago(1)}`,
        `w3,yes,97,,${ago(1)}`,
        `w3,yes,95,95,${ago(1)}`,
        `w3,yes,,,yesterday`,
        `w3,yes,,,${ago(24.1)}`,
        `,yes,,,${ago(1)}`,
        `fr-7,yes,,,${ago(-1)}`,
      );
      const done = await summary(file);
      expect(done).to.deep.include({ read: 12, added: 2, changed: 0, unchanged: 0, merged: 1 });
      expect(done.reasons).to.deep.equal({
        "unknown-station": 2,
        "bad-status": 1,
        "bad-grade": 2,
        "bad-time": 1,
        "too-old": 1,
        "no-station-id": 1,
        "in-the-future": 1,
      });
      const [first, second] = await seeds();
      expect(first).to.include({ station_id: "n1", status: "yes", now: "92,95,ДТ", no: "98" });
      expect(second).to.include({ station_id: "n2", status: "low", no: "95" });
      expect(touched).to.deep.equal(["n1", "n2"]);
      expect(
        await rows(db, "select station_id from station_status where refold order by 1"),
      ).to.deep.equal([{ station_id: "n1" }, { station_id: "n2" }]);

      const again = await summary(file);
      expect(again).to.include({ added: 0, changed: 0, unchanged: 2, merged: 1, refused: 9 });
      expect(await seeds()).to.have.length(2);
      expect(touched).to.deep.equal([]);
    });

    it("takes what is newer than before, and leaves what is older", async () => {
      await summary(csv(`n1,yes,,,${ago(2)}`));
      expect(await summary(csv(`n1,no,,,${ago(1)}`))).to.include({ changed: 1, added: 0 });
      const older = await summary(csv(`n1,low,,,${ago(5)}`));
      expect(older.reasons).to.deep.equal({ "older-than-known": 1 });
      expect((await seeds()).map((seed) => seed.status)).to.deep.equal(["yes", "no"]);
    });

    it("finds a station by its id, else the nearest within 50 m", async () => {
      const at = (lat: number) => `yes,,,${ago(1)},${lat},37`;
      const file = [
        `${heading},lat,lon`,
        `n1,${at(10)}`,
        `theirs-1,${at(55.01 + 0.00044)}`,
        `theirs-2,${at(55.02 + 0.00046)}`,
        `theirs-3,${at(55.01 + 0.0001)}`,
        `theirs-4,yes,,,${ago(1)},,`,
        "",
      ].join("\n");
      const done = await summary(file);
      expect(done.reasons).to.deep.equal({
        "no-station-near": 1,
        "same-station": 1,
        "unknown-station": 1,
      });
      expect((await seeds()).map((seed) => seed.station_id)).to.deep.equal(["n1", "n2"]);
    });

    it("takes the newer of two lines that name one station by different ids", async () => {
      const part = { id: "it-5", source: "it", lat: 55, lon: 37, removed_at: new Date() };
      await db("stations").insert(part);
      const joined = { verdict: "joined", actor: "import" };
      await db("station_pairs").insert({ station_id: "it-5", into_id: "n1", ...joined });
      const done = await summary(csv(`n1,no,,,${ago(3)}`, `it-5,yes,,,${ago(1)}`));
      expect(done.reasons).to.deep.equal({ "same-station": 1 });
      expect((await seeds()).map(({ station_id: id, status }) => [id, status])).to.deep.equal([
        ["n1", "yes"],
      ]);
    });

    it("takes a packed file whose last line is left out, and refuses one that is cut", async () => {
      const lines = csv(`n1,yes,,,${ago(1)}`, `n2,plenty,,,${ago(1)}`);
      expect(await summary(gzipSync(lines))).to.include({ read: 2, added: 1 });
      const cut = await run(gzipSync(lines.slice(0, -5)));
      expect((cut as { fault: string }).fault).to.include("ends in the middle");
    });

    it("takes another order of columns, CRLF, a byte order mark and a last line without its end", async () => {
      const file = `\uFEFFupdated,station_id,fuels_no,fuels_now,status\r\n${ago(1)},n1,95,,low`;
      expect(await summary(file)).to.include({ read: 1, added: 1 });
    });

    for (const [what, mark] of [
      ["semicolons", ";"],
      ["tabs", "\t"],
    ] as const) {
      it(`takes ${what} in place of commas, which then need no quotes in a field`, async () => {
        const heading = ["station_id", "status", "fuels_now", "fuels_no", "updated"].join(mark);
        const line = ["n1", "low", "92,95", "dt", ago(1)].join(mark);
        expect(await summary(`${heading}\r\n${line}\r\n`)).to.include({ read: 1, added: 1 });
        const [seed] = await seeds();
        expect(seed).to.include({ now: "92,95", no: "ДТ" });
      });
    }

    it("leaves out what is older than asked for", async () => {
      const file = csv(`n1,yes,,,${ago(3)}`, `n2,yes,,,${ago(1)}`);
      const done = await summary(file, { maxAgeMs: 2 * hourMs });
      expect(done.reasons).to.deep.equal({ "too-old": 1 });
    });

    it("takes a file of the past as of another moment, when told to", async () => {
      const file = csv("n1,yes,,,2022-10-12 01:00:00", "n2,no,,,2022-10-10 01:00:00");
      expect((await summary(file)).reasons).to.deep.equal({ "too-old": 2 });
      const done = await summary(file, { asOf: Date.UTC(2022, 9, 12, 3) });
      expect(done).to.include({ added: 1 });
      expect(done.moved_h).to.be.greaterThan(20_000);
      const [seed] = await seeds();
      expect(Date.now() - seed!.updated.getTime()).to.be.within(2 * hourMs, 2 * hourMs + 600_000);
    });

    it("changes nothing in a dry run, and says what would be", async () => {
      const done = await summary(csv(`n1,yes,,,${ago(1)}`), { dryRun: true });
      expect(done).to.include({ dry_run: true, added: 1 });
      expect(await seeds()).to.deep.equal([]);
      expect(await rows(db, "select station_id from station_status")).to.deep.equal([]);
    });

    for (const [what, content] of Object.entries({
      "cut off in its last time": csv(`n1,yes,,,${ago(1)}`, `n2,yes,,,2026-11-21 10:0`).trimEnd(),
      "cut off in a line": csv(`n1,yes,,,${ago(1)}`, `n2,ye`),
      "cut off in quotes": csv(`n1,yes,,,${ago(1)}`, `n2,yes,"95,`),
      "another table": "id,name\n1,x\n",
      "only a heading": csv(),
      empty: "",
      "not UTF-8": Buffer.from(csv(`n1,yes,\xc4\xd2,,${ago(1)}`), "latin1"),
    })) {
      it(`refuses a file that is ${what}, whole`, async () => {
        expect(isFault(await run(content))).to.equal(true);
        expect(await seeds()).to.deep.equal([]);
      });
    }
  });

  describe("from French stock-outs", () => {
    const stations = [
      "id,latitude,longitude,cp,pop,adresse,ville",
      "1,55.0001,37,01000,R,RUE,PARIS",
      "2,55.0101,37,01000,R,RUE,PARIS",
      "3,55.0201,37,01000,R,RUE,PARIS",
      "4,0,0,01000,R,RUE,PARIS",
      "7,0,0,01000,R,RUE,PARIS",
      "",
    ].join("\r\n");
    const french = async (lines: string[], end = "\r\n", more: Partial<StatusFileOptions> = {}) => {
      const stationsPath = join(folder.path, "stations.csv");
      await writeFile(stationsPath, stations);
      const content = ["id,nom,debut,fin,station_id", ...lines].join("\r\n") + end;
      return {
        content,
        options: { format: "fr-ruptures", source: "fr", stationsPath, ...more } as const,
      };
    };
    const rupture = (fuel: string, hours: number, station: number, end = ""): string =>
      `1,${fuel},${parisAgo(hours)},${end},${station}`;
    const days = 24;

    it("makes `no` of a station whose fuels are all out or not sold there, and `low` of the others", async () => {
      const { content, options } = await french([
        // All out; E10 has not been sold since years; the older line of a pair tells nothing.
        rupture("SP95", 5, 1),
        rupture("SP98", 70, 1),
        rupture("Gazole", 2, 1),
        rupture("Gazole", 900 * days, 1),
        rupture("E10", 800 * days, 1),
        rupture("E85", 1, 1),
        // SP98 and diesel are there; of 95 only one kind is out.
        rupture("E10", 3, 2),
        // Diesel is there, 95 of both kinds is out, 98 is not sold.
        rupture("E10", 3, 3),
        rupture("SP95", 4, 3),
        "6,SP98,0216-03-01T10:00:00,,3",
        // By the id alone; over; unknown; without a position.
        rupture("Gazole", 6, 7),
        rupture("SP98", 6, 7, parisAgo(1)),
        rupture("Gazole", 6, 4),
        rupture("Gazole", 6, 99),
        rupture("GPLc", 1, 7),
        "1,Gazole,gestern,,1",
      ]);
      const done = await summary(content, options);
      expect(done).to.include({ read: 16, added: 4, merged: 4 });
      expect(done.reasons).to.deep.equal({
        "other-fuel": 2,
        "bad-time": 1,
        "not-sold-here": 2,
        over: 1,
        "unknown-station": 2,
      });
      const stored = (await seeds()).map(({ updated, ...seed }) => ({
        ...seed,
        hours: Math.round((Date.now() - updated.getTime()) / hourMs),
      }));
      expect(stored).to.deep.equal([
        { station_id: "fr-7", status: "low", now: "", no: "ДТ", hours: 6 },
        { station_id: "n1", status: "no", now: "", no: "95,98,ДТ", hours: 2 },
        { station_id: "n2", status: "low", now: "", no: "", hours: 3 },
        { station_id: "w3", status: "low", now: "", no: "95", hours: 3 },
      ]);
      expect(await summary(content, options)).to.include({ added: 0, changed: 0, unchanged: 4 });
    });

    it("leaves a station out whose newest stock-out is older than a status lives", async () => {
      const { content, options } = await french([rupture("Gazole", 25, 1), rupture("SP98", 23, 2)]);
      const done = await summary(content, options);
      expect(done).to.include({ added: 1 });
      expect(done.reasons).to.deep.equal({ "too-old": 1 });
    });

    it("reads local times of Paris in summer and in winter, and when the clock is set", async () => {
      const at = async (local: string): Promise<string> => {
        await db.raw("truncate seeds");
        const { content, options } = await french([`1,Gazole,${local},,1`], "\r\n", {
          asOf: Date.parse(`${local}Z`) + hourMs,
          notSoldMs: 30 * days * hourMs,
        });
        const done = await summary(content, options);
        const [seed] = await seeds();
        return formatTime(
          Math.round((seed!.updated.getTime() - done.moved_h! * hourMs) / 600_000) * 600_000,
        );
      };
      expect(await at("2022-07-01T12:00:00")).to.equal("2022-07-01 10:00:00");
      expect(await at("2022-12-01T12:00:00")).to.equal("2022-12-01 11:00:00");
      expect(await at("2022-10-30T02:30:00")).to.equal("2022-10-30 00:30:00");
      expect(await at("2022-10-30T03:00:00")).to.equal("2022-10-30 02:00:00");
      expect(await at("2022-03-27T02:30:00")).to.equal("2022-03-27 01:30:00");
    });

    it("refuses a file that is cut off, or another one, or whose stations' file is, whole", async () => {
      const cut = await french([rupture("Gazole", 2, 1), `${rupture("Gazole", 2, 1)}2345`], "");
      expect(isFault(await run(cut.content, cut.options))).to.equal(true);
      const { options } = cut;
      expect(isFault(await run(stations, options))).to.equal(true);
      const whole = await french([rupture("Gazole", 2, 1)]);
      const missing = { ...whole.options, stationsPath: join(folder.path, "nowhere.csv") };
      expect(await run(whole.content, missing)).to.deep.equal({
        fault: `${missing.stationsPath}: there is no such file; nothing was changed. Check its name and its folder.`,
      });
      const other = { ...whole.options, stationsPath: join(folder.path, "file.csv") };
      expect(isFault(await run(whole.content, other))).to.equal(true);
      expect(await seeds()).to.deep.equal([]);
    });
  });
});
