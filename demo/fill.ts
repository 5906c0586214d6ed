import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { fillDemoCountry } from "#demo/country/fill.ts";
import { loadConfig } from "#src/infrastructure/config.ts";
import { createDb, rows } from "#src/infrastructure/db.ts";

/** Fills a database without stations with the demo country; any other is left as it is. */
export async function fillEmptyDatabase(env: NodeJS.ProcessEnv, dataDir: string): Promise<void> {
  const config = { ...loadConfig(env), queryTimeoutMs: 120_000, lockTimeoutMs: 60_000 };
  const db = createDb(config, "demo fill");
  try {
    const [found] = await rows<{ any: boolean }>(db, "select exists (select from stations) as any");
    if (found?.any === true) return;
    const marker = markerIn(dataDir, process.env.DATABASE_URL);
    writeFileSync(marker, "");
    await fillDemoCountry({ db, config, log: console.log });
    rmSync(marker);
  } finally {
    await db.destroy();
  }
}

/**
 * Empties this database when an earlier run was stopped in the middle of filling it: half a country would look
 * like the user's own data to the next run. Throws for a database that is not ours to empty.
 */
export async function undoHalfFill(
  { DATABASE_URL: url = "" }: NodeJS.ProcessEnv,
  dataDir: string,
  given = process.env.DATABASE_URL,
): Promise<void> {
  const marker = markerIn(dataDir, given);
  if (!existsSync(marker)) return;
  if (given) {
    throw new Error(
      `Filling the database of DATABASE_URL was interrupted: empty that database, remove ${marker}, then run this again.`,
    );
  }
  const client = new pg.Client({ connectionString: url.replace(/\/[^/]*$/, "/postgres") });
  await client.connect();
  try {
    const name = client.escapeIdentifier(new URL(url).pathname.slice(1));
    await client.query(`drop database ${name} with (force)`);
    await client.query(`create database ${name}`);
  } finally {
    await client.end();
  }
  rmSync(marker);
}

/** The file that says that a database is being filled: ours, or the `given` one, by its server and name. */
const markerIn = (dataDir: string, given: string | undefined): string =>
  join(
    dataDir,
    given
      ? `filling-${encodeURIComponent(given.replace(/^\w+:\/\/([^/@]*@)?|\?.*$/g, ""))}`
      : "filling",
  );
