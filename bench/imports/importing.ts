import { loadConfig } from "#src/infrastructure/config.ts";
import { createDb } from "#src/infrastructure/db.ts";
import { importSource } from "#src/import/import-source.ts";
import { isFault } from "#src/import/read-text.ts";
import { sourceNamed } from "#src/import/source-list.ts";

// A process of its own for one import of a file of OSM objects: what it takes, as one line of JSON.
const [path = ""] = process.argv.slice(2);
const config = loadConfig(process.env);
const db = createDb(config, "bench", 4);
const begin = performance.now();
const nothing = (): void => undefined;
const done = await importSource(db, config, {
  ...{ source: sourceNamed("osm")!, paths: [path], dryRun: false },
  ...{ progress: nothing, waiting: nothing, touched: nothing },
});
const seconds = (performance.now() - begin) / 1000;
await db.destroy();
if (isFault(done)) throw new Error(done.fault);
const { added, changed, unchanged } = done.stations!;
const mb = process.resourceUsage().maxRSS / 1024;
process.stdout.write(JSON.stringify({ added, changed, unchanged, seconds, mb }));
