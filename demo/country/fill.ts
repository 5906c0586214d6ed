import { demoCities } from "#demo/country/cities.ts";
import { insertMarks, insertReporters } from "#demo/country/marks.ts";
import { createRandom } from "#demo/country/random.ts";
import { makeReporters } from "#demo/country/reporters.ts";
import { makeStations } from "#demo/country/stations.ts";
import { makeShortage, tellStory } from "#demo/country/stories.ts";
import { createClock } from "#src/infrastructure/clock.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { inTransaction, rows, type Db, type Tx } from "#src/infrastructure/db.ts";
import { saveStations } from "#src/import/apply-stations.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { createProgress } from "#src/infrastructure/progress.ts";
import { processStations } from "#workers/marks/process.ts";

export interface Filled {
  stations: number;
  cities: number;
  marks: number;
}

const seed = 20_260_501;
const stationsAtOnce = 250;

/**
 * Fills a database with the demo country: the same cities, stations and stories each time, told as of now. Marks go
 * past intake into the database and through the worker's own code. Its rows have source "demo" and ids `demo-…`.
 */
export async function fillDemoCountry({
  db,
  config,
  log,
}: {
  db: Db;
  config: Config;
  log: (line: string) => void;
}): Promise<Filled> {
  const clock = createClock(config);
  const random = createRandom(seed);
  const now = clock();
  const stations = makeStations(random, config.demoStations);
  const reporters = makeReporters(random, now);
  const shortage = makeShortage(random, demoCities.length);
  const locals = demoCities.map((_, city) => reporters.filter((one) => one.city === city));
  const marks = stations.flatMap((station) =>
    tellStory(random, station, locals[station.city] ?? [], shortage[station.city] ?? 0, now),
  );
  log(
    `Filling the demo country: ${stations.length} stations in ${demoCities.length} cities, ${marks.length} marks of the last day`,
  );

  const progress = createProgress();
  try {
    await inTransaction(db, insertCities);
    await saveStations(db, "demo", { stations }, false, (done) =>
      progress.show("stations", done, stations.length),
    );
    await inTransaction(db, async (tx) => {
      // The stories begin up to 40 hours ago.
      await tx.raw("select ensure_mark_partitions((server_now() at time zone 'UTC')::date - 2, 4)");
      await insertReporters(tx, reporters);
      await insertMarks(tx, marks);
    });
    // The planner knows nothing yet of tables that were empty a moment ago.
    await db.raw("analyze stations, reporters, marks");
    const marked = [...new Set(marks.map(({ stationId }) => stationId))].sort();
    const deps = { db, config, clock, log: createLog({ logLevel: "warn" }, "demo") };
    for (let from = 0; from < marked.length; from += stationsAtOnce) {
      await processStations(deps, marked.slice(from, from + stationsAtOnce));
      progress.show("marks", Math.min(from + stationsAtOnce, marked.length), marked.length);
    }
    await db.raw("analyze station_status, opinions, changes");
  } finally {
    progress.end();
  }
  return { stations: stations.length, cities: demoCities.length, marks: marks.length };
}

async function insertCities(tx: Tx): Promise<void> {
  const column = <K extends "name" | "region" | "lat" | "lon" | "population">(name: K) =>
    demoCities.map((city) => city[name]);
  await rows(
    tx,
    `insert into cities (id, source, name, region, lat, lon, population)
      select 'demo-' || place, 'demo', name, region, lat, lon, population
      from unnest(?::text[], ?::text[], ?::float8[], ?::float8[], ?::integer[]) with ordinality
        as given (name, region, lat, lon, population, place)
      on conflict (id) do nothing`,
    [column("name"), column("region"), column("lat"), column("lon"), column("population")],
  );
  await tx.raw("select pg_notify('cities', '')");
}
