import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Country, fillCountry } from "#bench/country.ts";
import { type Load, startLoad } from "#bench/processes.ts";
import { openStage, type Stage } from "#bench/stage.ts";
import { createDb, type Db } from "#src/infrastructure/db.ts";

/** A stage with a country, a connection to its database and a load generator that knows the country. */
export interface FilledStage extends Stage {
  country: Country;
  db: Db;
  load: Load;
}

/** Keys of its partners may introduce as many people as a benchmark has. */
const limits = { NEW_REPORTERS_DAILY: "1000000" };

/** `settings` are added to those of every process. */
export async function openFilledStage(
  settings: Record<string, string>,
  {
    partners,
    queryTimeoutMs,
  }: { partners?: (config: Stage["config"]) => number; queryTimeoutMs?: number } = {},
): Promise<FilledStage> {
  const stage = await openStage({ ...limits, ...settings });
  try {
    console.log("Filling the country");
    const country = await fillCountry(stage.config, partners?.(stage.config));
    const file = join(stage.folder, "country.json");
    writeFileSync(file, JSON.stringify(country));
    const config =
      queryTimeoutMs === undefined ? stage.config : { ...stage.config, queryTimeoutMs };
    const db = createDb(config, "bench");
    stage.onClose(() => db.destroy());
    const load = startLoad(file);
    stage.onClose(() => load.stop());
    return { ...stage, country, db, load };
  } catch (error) {
    await stage.close();
    throw error;
  }
}
