import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { loadConfig } from "#src/infrastructure/config.ts";
import { rows } from "#src/infrastructure/db.ts";
import { importSource } from "#src/import/import-source.ts";
import { isFault } from "#src/import/read-text.ts";
import { readSource, type Source } from "#src/import/source.ts";
import { trySource } from "#src/import/try-source.ts";
import { useFolder, useInstance } from "#test/harness/use.ts";

const read = readSource({
  ...{ name: "test", title: "A test" },
  files: [{ name: "stations", read: { format: "csv" } }],
  fields: { id: "id", lat: "lat", lon: "lon", name: "id", opening_hours: "hours" },
});
const { source } = read as { source: Source };

describe("opening hours of a file (decisions 14.48)", () => {
  const instance = useInstance();
  const folder = useFolder();

  const write = async (hours: readonly string[]): Promise<string> => {
    const path = join(folder.path, "file.csv");
    const lines = hours.map((text, n) => `${n + 1},46.0${n},14.5${n},${text}`);
    await writeFile(path, ["id,lat,lon,hours", ...lines, ""].join("\n"));
    return path;
  };
  const hours = [
    "Mo-Fr 6-21; Sa 07:00-12:00",
    "Mo-Fr 06:00-21:00 Sa 07:00-12:00",
    "zaprto",
    "24/7",
    "",
  ];

  it("are stored and served where they can be read for certain", async () => {
    const done = await importSource(
      instance.db,
      loadConfig({ DATABASE_URL: instance.databaseUrl }),
      {
        ...{ source, paths: [await write(hours)], dryRun: false },
        ...{ progress: () => undefined, waiting: () => undefined, touched: () => undefined },
      },
    );
    expect(!isFault(done) && done.stations).to.include({ added: 5 });
    const stored = await rows<{ hours: string }>(
      instance.db,
      "select opening_hours as hours from stations order by id",
    );
    expect(stored.map((one) => one.hours)).to.deep.equal([hours[0], "", "", "24/7", ""]);
  });

  it("are counted, and the first that cannot be read is shown, when a source is tried", async () => {
    const tried = await trySource(source, [await write(hours)]);
    expect(tried.coverage["opening_hours"]).to.equal(2);
    expect(tried.first.map((one) => one["opening_hours"])).to.deep.equal([
      ...[hours[0], "", "", "24/7", ""],
    ]);
    expect(tried.verdict).to.match(
      /^Doubtful: the opening hours of 2 of 4 stations cannot be read and would be left out, the first: "Mo-Fr 06:00-21:00 Sa 07:00-12:00" \(You have used 2 not connected weekdays/,
    );
    expect((await trySource(source, [await write(["24/7", ""])])).verdict).to.equal(
      "Good: it can be imported.",
    );
  });
});
