import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { loadConfig } from "#src/infrastructure/config.ts";
import { createDb, rows } from "#src/infrastructure/db.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { migrate } from "#src/infrastructure/migrate.ts";
import { importSource } from "#src/import/import-source.ts";
import { isFault } from "#src/import/read-text.ts";
import { sourceFromMap } from "#src/import/source-list.ts";
import { migrations } from "#migrations/list.ts";
import { createBareDatabase } from "#test/harness/database.ts";
import { usualImport } from "#test/harness/import-stations.ts";
import { use, useFolder, useInstance } from "#test/harness/use.ts";

const earlierNames = Object.keys(migrations).filter((name) => name < "0061");

describe("upgrade: stations whose ids an earlier version has cut", () => {
  const instance = useInstance();
  const folder = useFolder();
  const bare = use(createBareDatabase, ({ drop }) => drop());

  it("keep their ids and marks when the next file has them in another order", async () => {
    const config = loadConfig({ ...instance.env, DATABASE_URL: bare.databaseUrl });
    const db = createDb(config, "test");
    try {
      await db.migrate.latest({
        migrationSource: {
          getMigrations: () => Promise.resolve(earlierNames),
          getMigrationName: (name: string) => name,
          getMigration: (name: string) => Promise.resolve(migrations[name]!),
        },
      });
      // As it stored "А-12", "Б-12" and "В-12", of which it refused two, and "PL/1".
      await rows(
        db,
        `insert into stations (id, source, lat, lon, brand, name) values
         ('csv---12', 'csv', 55.7512, 37.6184, 'Полюс', 'Полюс'), ('csv-PL-1', 'csv', 56, 37, '', '')`,
      );
      const mark = `insert into marks (id, station_id, reporter_id, source, status, received_at, effective_at, remote, needed, rule, processed_at, outcome)
        values (next_mark_id(now()), 'csv---12', 1, 'partner', 'no', now(), now(), false, 1, 'geolocated', now(), 'published')`;
      await rows(db, "select ensure_mark_partitions(current_date, 2)");
      await rows(db, mark);
      await migrate(db, createLog({ logLevel: "silent" }, "test"));
      const lines = [
        "В-12,55.65,37.7",
        "Б-12,55.8031,37.4042",
        "PL/1,56,37.004",
        "А-12,55.7512,37.6184",
      ];
      const path = join(folder.path, "next.csv");
      await writeFile(
        path,
        ["id,lat,lon,brand", ...lines.map((line) => `${line},Полюс`), ""].join("\n"),
      );
      const source = sourceFromMap("id=id,lat=lat,lon=lon,brand=brand");
      const told = {
        ...usualImport,
        source,
        paths: [path],
        replaceSource: true,
        touched: () => undefined,
      };
      const done = await importSource(db, config, told);
      if (isFault(done)) throw new Error(done.fault);
      expect(done.stations).to.include({ added: 2, removed: 0, refused: 0, renumbered: 2 });
      const sql =
        "select id, lat from stations where removed_at is null and id in ('csv---12', 'csv-PL-1') order by id";
      expect(await rows(db, sql)).to.deep.equal([
        { id: "csv---12", lat: 55.7512 },
        { id: "csv-PL-1", lat: 56 },
      ]);
      expect(await rows(db, "select station_id from marks")).to.deep.equal([
        { station_id: "csv---12" },
      ]);
    } finally {
      await db.destroy();
    }
  });
});
