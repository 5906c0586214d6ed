import { readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect } from "chai";
import { createRefusedRows, firstRefused, packRefused } from "#src/import/refusals.ts";
import { rows } from "#src/infrastructure/db.ts";
import { finishRun, listRuns, startRun } from "#src/import/runs.ts";
import { itLong } from "#test/harness/long.ts";
import { runOperator } from "#test/harness/operator.ts";
import { useFolder, useInstance } from "#test/harness/use.ts";

describe("rows that imports leave out", () => {
  const instance = useInstance();
  const folder = useFolder();
  let stations: string;
  before(async () => {
    const lines = ["id,lat,lon", "1,55,37", "1,55,37.1", "2,,"];
    await writeFile((stations = join(folder.path, "stations.csv")), `${lines.join("\n")}\n`);
  });
  const operator = (...args: string[]) => runOperator(instance.env, ...args, "--actor", "olga");
  const map = ["--map", "id=id,lat=lat,lon=lon"];

  it("of statuses and cities are written to a file too, with their lines", async () => {
    const [statuses, cities] = [join(folder.path, "statuses.csv"), join(folder.path, "cities.tsv")];
    const refused = join(folder.path, "refused.csv");
    await writeFile(
      statuses,
      "station_id,status,fuels_now,fuels_no,updated\nn0,no,,,2026-11-21 10:00:00\nn1,full,,,2026-11-21 10:00:00\nn2,no,,,2026-11-21 10:00:00\n",
    );
    const done = await operator(
      ...["statuses", "import", statuses, "--format", "csv", "--refusals", refused],
    );
    expect(done.out).to.include(`Each row that is left out: ${refused}`);
    expect(await readFile(refused, "utf8")).to.equal(
      [
        "place,id,field,value,reason\nline 2,n0,updated,2026-11-21 10:00:00,too-old",
        "line 3,n1,status,full,bad-status\nline 4,n2,updated,2026-11-21 10:00:00,too-old\n",
      ].join("\n"),
    );
    const city = (id: number, lat: string): string =>
      [id, "Town", "Town", "", lat, "37.5", "P", "PPL", "RU", ...Array(5).fill(""), 9000, "", 9]
        .concat(["Europe/Moscow", "2026-01-01"])
        .join("\t");
    await writeFile(cities, `${city(1, "55.5")}\n${city(1, "55.6")}\n`);
    await operator("cities", "import", cities, "--format", "geonames", "--refusals", refused);
    expect(await readFile(refused, "utf8")).to.match(/\nline 2,.*1,id,,repeated-id\n$/);
    expect((await operator("cities", "import", cities)).out).to.include("--refusals FILE.csv");
  });

  it("never replace the file that is imported, whatever it is called", async () => {
    const [statuses, alias] = [join(folder.path, "own.csv"), join(folder.path, "alias.csv")];
    await writeFile(statuses, "station_id,status,fuels_now,fuels_no,updated\n");
    await symlink(stations, alias);
    for (const [path, named, ...args] of [
      [stations, alias, "stations", ...map, "--source", "mine", "--dry-run"],
      [statuses, statuses, "statuses", "--format", "csv"],
      [stations, stations, "cities", "--format", "geonames"],
    ] as const) {
      const before = await readFile(path, "utf8");
      const [noun, ...options] = args;
      const refused = await operator(noun!, "import", path, ...options, "--refusals", named);
      expect(refused).to.include({ code: 2 });
      expect(refused.err).to.include(`${named}: it is imported`);
      expect(await readFile(path, "utf8")).to.equal(before);
    }
  });

  it("end an import whose list cannot be opened, and no import whose list does not fit on the disk", async () => {
    const args = ["stations", "import", stations, ...map, "--source", "mine"];
    const nowhere = await operator(...args, "--refusals", join(folder.path, "no", "where.csv"));
    expect([nowhere.code, nowhere.err]).to.satisfy(
      ([code, err]: [number, string]) => code !== 0 && err.includes("no/where.csv"),
    );
    expect(await rows(instance.db, "select from stations")).to.deep.equal([]);
    const full = await operator(...args, "--refusals", "/dev/full");
    expect(full.code).to.equal(0);
    expect(full.err).to.include("not all rows that are left out could be written: ENOSPC");
    expect(full.out).to.include("repeated-id 1");
    expect(await rows(instance.db, "select id from stations")).to.deep.equal([{ id: "mine-1" }]);
  });

  it("of an import by hand stay in the list, however often a feed fails meanwhile", async () => {
    const { db } = instance;
    const [feed] = await rows<{ id: number }>(
      db,
      `insert into feeds (source, files, every_s, replace_source, alarm_after_s)
       values ('it-mimit', '{a,b}', 60, false, 60) returning id`,
    );
    const run = { kind: "stations", file: "a.csv", source: "mine", replace_source: false } as const;
    const packed = Buffer.from("packed");
    const byHand = await startRun(db, { ...run, dry_run: false, actor: "olga" });
    await finishRun(db, byHand, { state: "done", refusedRows: packed });
    for (let n = 0; n < 31; n += 1) {
      const id = await startRun(db, { ...run, dry_run: false, actor: "feed", feed_id: feed!.id });
      await finishRun(db, id, { state: "failed", fault: "gone", refusedRows: packed });
    }
    const listed = await listRuns(db);
    expect(listed.length).to.equal(31);
    expect(listed.filter((one) => one.has_refused_rows).length).to.equal(31);
    expect(listed.at(-1)!.id).to.equal(byHand);
    const kept = await rows(db, "select from imports where refused_rows is not null");
    expect(kept.length).to.equal(31);
    expect((await listRuns(db, feed!.id)).length).to.equal(20);
  });

  itLong("of one file come in its order, up to 100,000 of them, and none is lost", async () => {
    const path = join(folder.path, "ordered.csv");
    for (const count of [99_999, 100_000, 100_001]) {
      const refused = await createRefusedRows(path, true);
      for (let n = count; n > 0; n -= 1)
        refused.add({ place: `line ${n}`, id: "", field: "", value: "", reason: "r" });
      await refused.end();
      const [, ...lines] = (await readFile(path, "utf8")).trim().split("\n");
      const numbers = lines.map((line) => Number(/\d+/.exec(line)![0]));
      expect(new Set(numbers).size).to.equal(count);
      const inOrder = numbers.slice(-100_000);
      expect(inOrder.every((n, at) => at === 0 || n > inOrder[at - 1]!)).to.equal(true);
    }
  });

  it("are shown up to 200, and kept as whole rows, wherever the list is cut", async () => {
    const path = join(folder.path, "many.csv");
    for (const count of [0, 1, 199, 200, 201]) {
      const refused = await createRefusedRows(path);
      for (let n = 0; n < count; n += 1)
        refused.add({ place: `line ${n}`, id: `mine-${n}`, field: "", value: "", reason: "r" });
      await refused.end();
      expect(refused.first).to.have.length(Math.min(count, 200));
      const packed = await packRefused(path);
      if (count === 0) expect(packed).to.equal(null);
      else expect(firstRefused(gunzipSync(packed!).toString())).to.deep.equal(refused.first);
    }
    const refused = await createRefusedRows(path);
    // A value of several lines, with quotes, and one whose last letter does not fit.
    for (const value of ['a\n"b"\n,c', "\n\n", `${"x".repeat(199)}😀y`])
      refused.add({ place: "line 1", id: "ё", field: "name", value, reason: "r" });
    await refused.end();
    const whole = await readFile(path);
    let rowsKept = 0;
    for (let most = 0; most <= whole.length; most += 1) {
      const packed = await packRefused(path, most);
      const kept = packed === null ? [] : firstRefused(gunzipSync(packed).toString());
      expect(kept).to.deep.equal(refused.first.slice(0, kept.length));
      expect(kept.length).to.be.within(rowsKept, rowsKept + 1);
      rowsKept = kept.length;
    }
    expect([rowsKept, refused.first.at(-1)!.value]).to.deep.equal([3, `${"x".repeat(199)}😀`]);
  });
});
