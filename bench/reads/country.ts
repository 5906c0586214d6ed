import { noSales, type Status, statuses } from "#src/domain/vocabulary.ts";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { addPartners, meetUsers } from "#bench/country.ts";
import { demoCities } from "#demo/country/cities.ts";
import { createRandom } from "#demo/country/random.ts";
import { makeStations } from "#demo/country/stations.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { createDb, type Db, rows } from "#src/infrastructure/db.ts";
import type { Point } from "#src/domain/geo.ts";
import { emptyState, type StationState } from "#src/domain/state.ts";
import type { StationRow } from "#src/feed/feed.ts";
import { saveStations } from "#src/import/apply-stations.ts";
import { findFiles } from "#src/import/source-files.ts";
import { sourceNamed } from "#src/import/source-list.ts";
import { readSourceStations } from "#src/import/source-stations.ts";

/** What the benchmark of reads needs to know of the database that all sides serve. */
export interface ReadCountry {
  /** Whether the stations are real ones, repeated. */
  real: boolean;
  stations: StationRow[];
  states: Map<string, StationState>;
  /** Secret keys of several partners: one may send at most 100,000 requests a minute. */
  keys: string[];
  cities: readonly (Point & { name: string })[];
}

const extract = fileURLToPath(
  new URL("../../../shared/data/ru_osm_fuel_16_cities.json", import.meta.url),
);
const partnerCount = 16;
const users = 10_000;
/** Of ten stations as many have a status. */
const withStatus = 6;

/** Fills an empty database with `count` stations, about 60 % of them with a status, partners and known users. */
export async function fillReadCountry(config: Config, count: number): Promise<ReadCountry> {
  const db = createDb({ ...config, queryTimeoutMs: 180_000, lockTimeoutMs: 60_000 }, "bench fill");
  try {
    const real = existsSync(extract);
    const stations = real ? await repeated(count) : makeStations(createRandom(1), count);
    const now = Date.now();
    const states = new Map(
      stations.flatMap(({ id }, n) =>
        n % 10 < withStatus ? [[id, stateOf(n, now)] as const] : [],
      ),
    );
    await addStations(db, stations, states);
    const partners = await addPartners(db, partnerCount);
    await meetUsers(db, config, partners, users);
    await rows(
      db,
      `insert into cities (id, source, name, region, lat, lon, population)
       select 'bench-' || n, 'bench', name, region, lat, lon, population
       from unnest(?::int[], ?::text[], ?::text[], ?::float8[], ?::float8[], ?::int[])
         as c (n, name, region, lat, lon, population)`,
      [
        demoCities.map((_, n) => n),
        ...(["name", "region", "lat", "lon", "population"] as const).map((field) =>
          demoCities.map((one) => one[field]),
        ),
      ],
    );
    await db.raw("vacuum analyze");
    return { real, stations, states, keys: partners.map(({ key }) => key), cities: demoCities };
  } finally {
    await db.destroy();
  }
}

/** Repeats the country ten times as large, for the memory of a web process. */
export async function enlargeCountry(
  config: Config,
  { stations, states }: ReadCountry,
  times: number,
): Promise<void> {
  const db = createDb({ ...config, queryTimeoutMs: 180_000, lockTimeoutMs: 60_000 }, "bench fill");
  try {
    for (let copy = 1; copy < times; copy += 1) {
      const more = stations.map((one) => moved(one, `x${copy}`, copy / 50));
      const again = stations.flatMap(({ id }) => {
        const state = states.get(id);
        return state === undefined ? [] : [[`${id}-x${copy}`, state] as const];
      });
      await addStations(db, more, new Map(again));
    }
  } finally {
    await db.destroy();
  }
}

async function addStations(
  db: Db,
  stations: readonly StationRow[],
  states: ReadonlyMap<string, StationState>,
): Promise<void> {
  const entries = [...states];
  await saveStations(db, "bench", { stations }, false, () => {});
  await rows(
    db,
    `insert into station_status (station_id, state, status, next_at)
     select id, state::jsonb, state::jsonb->'served'->>'status', server_now() + interval '12 hours'
     from unnest(?::text[], ?::text[]) as s (id, state)`,
    [entries.map(([id]) => id), entries.map(([, state]) => JSON.stringify(state))],
  );
  await db.raw("select feed_stamp(?::text[])", [entries.map(([id]) => id)] as never);
}

async function repeated(count: number): Promise<StationRow[]> {
  const source = sourceNamed("osm-overpass")!;
  const reading = { label: "osm", now: 0, progress: () => {} };
  const { found: candidates } = await readSourceStations(
    source,
    await findFiles(source, [extract]),
    reading,
  );
  const stations = candidates.map(({ id, lat, lon, brand, name, operator, addr }) => ({
    id,
    lat,
    lon,
    brand,
    name: name || brand || operator,
    addr,
    ...noSales,
  }));
  const times = Math.ceil(count / stations.length);
  return Array.from({ length: times }, (_, copy) =>
    copy === 0 ? stations : stations.map((one) => moved(one, `r${copy}`, copy / 9)),
  )
    .flat()
    .slice(0, count);
}

const moved = (one: StationRow, suffix: string, byDegrees: number): StationRow => ({
  ...one,
  id: `${one.id.slice(0, 50)}-${suffix}`,
  lat: Math.round((one.lat + byDegrees) * 1e6) / 1e6,
  lon: Math.round((one.lon + byDegrees) * 1e6) / 1e6,
});

const gradeSets = [["92", "95"], ["95"], ["92", "95", "ДТ"], ["95", "100", "ДТ"]] as const;

function stateOf(n: number, now: number): StationState {
  const random = createRandom(n + 1);
  const status = statuses[random.int(0, statuses.length - 1)] as Status;
  const updated = Math.floor((now - random.int(60, 10 * 3600) * 1000) / 1000) * 1000;
  const at = { at: updated, id: 0 };
  const fuels = [...gradeSets[random.int(0, gradeSets.length - 1)]!];
  return {
    ...emptyState,
    served: {
      status,
      updated,
      confirmations: random.int(1, 9),
      realCount: random.int(1, 9),
      details: {
        fuelsNow: status === "no" ? [] : fuels,
        fuelsNo: status === "yes" ? [] : ["98"],
        queue: status === "queue" ? "10-20" : "",
        limitL: random.chance(0.3) ? 40 : null,
        noCash: random.chance(0.1),
        fuelCardsOnly: false,
      },
    },
    prices:
      status === "no"
        ? []
        : fuels.map((grade) => ({ grade, price: random.int(5500, 7500) / 100, from: at })),
    publications: { [status]: at },
    lastUpdated: updated,
    last: at,
  };
}
