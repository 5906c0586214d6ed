import { parseArgs } from "node:util";
import type { Point } from "#src/domain/geo.ts";
import { importSource } from "#src/import/import-source.ts";
import { asFault, isFault } from "#src/import/read-text.ts";
import { guessSource } from "#src/import/guess-source.ts";
import { findFiles } from "#src/import/source-files.ts";
import { chosenSource } from "#src/import/source-list.ts";
import type { Source } from "#src/import/source.ts";
import { loadConfig } from "#src/infrastructure/config.ts";
import { createDb, type Db, rows } from "#src/infrastructure/db.ts";
import { createProgress } from "#src/infrastructure/progress.ts";

/** The country that `npm start -- --source … --file …` starts with in place of the demo. */
export interface GivenCountry {
  source: Source;
  files: string[];
}

const usage =
  "npm start -- --file FILE [--file FILE …] [--source NAME or --map OURS=COLUMN,…]; a folder of files counts as a file";

/**
 * The country that these arguments name, its files known to belong to its source; null without arguments. Throws a
 * sentence for any other argument, and for files or a source that cannot be.
 */
export async function givenCountry(args: readonly string[]): Promise<GivenCountry | null> {
  if (args.length === 0) return null;
  const { files = [], ...said } = readArguments(args);
  if (files.length === 0) throw new Error(`--file is missing: ${usage}`);
  const found = await asFault(said.source ?? files[0]!, async () => {
    const source = (await chosenSource(said)) ?? (await guessSource(files));
    await findFiles(source, files);
    return source;
  });
  if (isFault(found)) throw new Error(found.fault);
  return { source: found, files };
}

function readArguments(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        source: { type: "string" },
        map: { type: "string" },
        file: { type: "string", multiple: true },
      },
    });
    return { source: values.source, map: values.map, files: values.file };
  } catch (error) {
    throw new Error(
      `${(error as Error).message}
${usage}`,
      { cause: error },
    );
  }
}

/**
 * Imports the country. The same files again, at a later start, change nothing. Throws a sentence for files that cannot
 * be taken, and beside the demo country. Gives an area that has stations, `south,west,north,east`.
 */
export async function importGiven(env: NodeJS.ProcessEnv, given: GivenCountry): Promise<string> {
  const config = { ...loadConfig(env), queryTimeoutMs: 120_000, lockTimeoutMs: 60_000 };
  const db = createDb(config, "import");
  const progress = createProgress();
  try {
    await refuseBesideDemo(db);
    const { source, files } = given;
    console.log(`Importing ${source.title}`);
    const done = await importSource(db, config, {
      ...{ source, paths: files, dryRun: false },
      progress: (step, count, total) => progress.show(step, count, total),
      waiting: () => undefined,
      // The marks role, which starts afterwards, looks for them by itself.
      touched: () => undefined,
    });
    if (isFault(done)) throw new Error(done.fault);
    progress.end();
    const { added, changed, unchanged, merged, refused, reasons } = done.stations!;
    const why = Object.entries(reasons).map(([reason, count]) => `${reason} ${count}`);
    console.log(
      `${added + changed + unchanged} stations (${added} new, ${changed} changed${merged > 0 ? `; ${merged} more are the same ones again` : ""})${refused > 0 ? `; left out: ${why.join(", ")}` : ""}`,
    );
    return await areaOf(db);
  } finally {
    progress.end();
    await db.destroy();
  }
}

/** 0.3 degrees around one of the stations. */
async function areaOf(db: Db): Promise<string> {
  const sql = "select lat, lon from stations where removed_at is null order by id limit 1";
  const [{ lat, lon } = { lat: 0, lon: 0 }] = await rows<Point>(db, sql);
  return [lat - 0.15, lon - 0.15, lat + 0.15, lon + 0.15].map((one) => one.toFixed(2)).join();
}

async function refuseBesideDemo(db: Db): Promise<void> {
  const sql =
    "select exists (select from stations where source = 'demo' and removed_at is null) as any";
  const [found] = await rows<{ any: boolean }>(db, sql);
  if (found?.any === true)
    throw new Error(
      "The demo country is here. Run `npm start` without --file, then `npm run operator -- demo remove`; or begin anew in a folder without .data.",
    );
}
