import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { loadConfig } from "#src/infrastructure/config.ts";
import { rows, type Db } from "#src/infrastructure/db.ts";
import { importCities } from "#src/import/import-cities.ts";
import { importStations, usualImport } from "#test/harness/import-stations.ts";
import { importStatuses } from "#src/import/import-statuses.ts";
import { isFault } from "#src/import/read-text.ts";
import { zipOf } from "#test/harness/zip.ts";
import { useFolder, useInstance } from "#test/harness/use.ts";

type Kind = "stations" | "cities" | "statuses";

const heading = "station_id,status,fuels_now,fuels_no,updated";
const good = "n1,yes,,,2026-11-21 10:00:00";
const cut = "The file may be cut off: export or download it again.";
const kind =
  "Is it the right file for this kind of content? docs/imports.md describes each format.";
const utf8 = "Save it as UTF-8 (in a spreadsheet: “CSV UTF-8”), and import it again.";
const fias = "11111111-0000-0000-0000-000000000000";
const cities =
  "address,region_type,region,area_type,area,city_type,city,settlement_type,settlement,fias_id,geo_lat,geo_lon,population,foundation_year";
const node = (id: number): object => ({
  ...{ type: "node", id, lat: 60, lon: 20 + id * 0.01 },
  tags: { amenity: "fuel", name: `North ${id}` },
});
const pretty = JSON.stringify({ elements: [node(1), node(2)] }, null, 1);

/** What is wrong with a file, and the words about it: where, what, and what to do (decisions 13.22). */
const wrong: Record<string, [kind: Kind, content: string | Buffer, fault: string]> = {
  "a byte of another encoding": [
    "statuses",
    Buffer.concat([Buffer.from(`${heading}\n${good}\nn2,`), Buffer.from([0xd4, 0x0a])]),
    `FILE, line 3: this is not UTF-8 text; nothing was changed. ${utf8}`,
  ],
  "a letter that ends with its line": [
    "statuses",
    Buffer.concat([Buffer.from(`${heading}\nn2,`), Buffer.from([0xd0, 0x0a]), Buffer.from(good)]),
    `FILE, line 2: this is not UTF-8 text; nothing was changed. ${utf8}`,
  ],
  "a spreadsheet": [
    "statuses",
    zipOf({ "[Content_Types].xml": "<Types/>" }),
    "FILE: this is a spreadsheet, not a text; nothing was changed. Export it as “CSV UTF-8”.",
  ],
  "a compressed file": [
    "stations",
    Buffer.from([0x42, 0x5a, 0x68, 0x39]),
    "FILE: this is compressed by bzip2; nothing was changed. Unpack it first (`bunzip2 FILE`).",
  ],
  "a wrong column": [
    "statuses",
    `station_id,state,fuels_now,fuels_no,updated\n${good}\n`,
    "FILE, line 1: the heading has no column status; it names station_id, state, fuels_now, fuels_no, updated; nothing was changed. The first line of such a file names the columns station_id, status, fuels_now, fuels_no, updated, in any order.",
  ],
  "a line of too few fields": [
    "statuses",
    `${heading}\n${good}\n\nn2,yes\n${good}\n`,
    `FILE, line 4: it has 2 fields, the lines before it 5; nothing was changed. ${cut}`,
  ],
  "an open quote": [
    "statuses",
    `${heading}\n${good}\nn2,yes,"95,\n`,
    `FILE, line 3: the file ends inside of quotes: a " is missing here or before; nothing was changed. ${cut}`,
  ],
  "a quote within a field": [
    "statuses",
    `${heading}\nn2,yes,9"5,,x\n`,
    `FILE, line 2: a " stands in the middle of a field; nothing was changed. ${cut}`,
  ],
  "a last line without its end": [
    "statuses",
    `${heading}\n${good}\nn2,yes,,,2026-11-2`,
    `FILE, line 3: it ends in the middle (bad-time); nothing was changed. ${cut}`,
  ],
  "no line that can be taken": [
    "statuses",
    `${heading}\nn1,open,,,x\nn2,yes,,,x\n`,
    `FILE: it holds no readable status: all 2 entries were left out (bad-status 1, bad-time 1); nothing was changed. ${kind}`,
  ],
  "an id that is none": [
    "cities",
    `${cities}\na,г,А,,,,,,,${fias},55,37,1,1147\nb,г,Б,,,,,,,x,55,37,1,1147\n`,
    `FILE, line 3: its fias_id "x" is none; nothing was changed. ${kind}`,
  ],
  "another table": [
    "cities",
    "id,name\n1,x\n",
    `FILE: this is neither hflabs nor GeoNames; nothing was changed. ${kind}`,
  ],
  "JSON with a comma too many": [
    "stations",
    pretty.replace('"lat": 60,\n', '"lat": 60,,\n'),
    `FILE, line 6: record 1 is not JSON after “de", "id": 1, "lat": 60,”; nothing was changed. ${cut}`,
  ],
  "JSON that is cut off": [
    "stations",
    pretty.split("\n").slice(0, 9).join("\n"),
    `FILE, line 9: it ends before its last bracket; nothing was changed. ${cut}`,
  ],
  "JSON of one long line": [
    "stations",
    `{"elements":[${"1,".repeat(700)}x]}`,
    `FILE, line 1: record 701 is not JSON after “x”; nothing was changed. ${cut}`,
  ],
  "a query that failed": [
    "stations",
    JSON.stringify({ elements: [node(1)], remark: "runtime error: Query timed out" }),
    "FILE: it holds the answer of a query that failed (runtime error: Query timed out); nothing was changed. Run the query again, for a smaller area or with a longer timeout.",
  ],
  "JSON of something else": [
    "stations",
    JSON.stringify({ elements: [{ type: "node", id: 1, lat: 1, lon: 1, tags: { shop: "yes" } }] }),
    `FILE: it holds no filling station: the only entry was left out (not-a-fuel-station 1); nothing was changed. ${kind}`,
  ],
};

describe("faults of import files, in words", () => {
  const instance = useInstance();
  let db: Db;
  const folder = useFolder();
  let path: string;

  before(async () => {
    ({ db } = instance);
    path = join(folder.path, "file");
  });

  interface Options {
    replaceSource?: boolean;
    allowRemovals?: number;
    dryRun?: boolean;
  }
  const run = async (what: Kind, content: string | Buffer, more: Options = {}) => {
    await writeFile(path, content);
    const options = { ...usualImport, path, ...more };
    if (what === "stations") return importStations(db, options);
    if (what === "cities") return importCities(db, options);
    return importStatuses(db, loadConfig({ DATABASE_URL: instance.databaseUrl }), {
      ...options,
      ...{ format: "csv", stationsPath: null, source: "csv", asOf: null },
      ...{ maxAgeMs: 86_400_000, notSoldMs: 86_400_000, touched: () => undefined },
    });
  };
  const faultOf = async (what: Kind, content: string | Buffer, more?: Options) => {
    const done = await run(what, content, more);
    return isFault(done) ? done.fault.replace(path, "FILE") : done;
  };

  for (const [name, [what, content, fault]] of Object.entries(wrong)) {
    it(`name the place, the matter and the remedy: ${name}`, async () => {
      expect(await faultOf(what, content)).to.equal(fault);
    });
  }

  const country = (count: number): string =>
    JSON.stringify({ elements: Array.from({ length: count }, (_, n) => node(n + 1)) });
  const inService = async (): Promise<number> =>
    (
      await rows<{ n: number }>(db, "select count(*) as n from stations where removed_at is null")
    )[0]!.n;

  it("name how much a file would remove, where that is more than a tenth and than 100, unless it is allowed", async () => {
    await run("stations", country(1500));
    const part = country(1340);
    const words =
      '160 of the 1500 stations of source "osm" are not in the file and would be removed';
    const whole = `FILE: ${words}; nothing was changed. The file may be a part of the country, or of another source. If it is complete, allow 160 removals, or use \`--force removals\`, and import it again.`;
    for (const more of [{}, { dryRun: true }, { allowRemovals: 159 }])
      expect(await faultOf("stations", part, { replaceSource: true, ...more })).to.equal(whole);
    expect(await inService()).to.equal(1500);
    expect(await run("stations", part)).to.include({ removed: 0 });
    const usual = await run("stations", country(1350), { replaceSource: true, dryRun: true });
    expect(usual).to.include({ removed: 150 });
    const allowed = await run("stations", part, { replaceSource: true, allowRemovals: 160 });
    expect(allowed).to.include({ removed: 160 });
    expect(await inService()).to.equal(1340);
    // A hundred need no word, of a small source either.
    const few = await run("stations", country(1240), { replaceSource: true });
    expect(few).to.include({ removed: 100 });
  });
});
