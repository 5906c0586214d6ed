import type { ReadCountry } from "#bench/reads/country.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { createDb, rows } from "#src/infrastructure/db.ts";
import { emptyState } from "#src/domain/state.ts";
import { view } from "#src/domain/view.ts";

const chunk = 5000;

/** The table that "Koa + knex" reads: a column for each served field, a GiST index on the points. */
export async function fillObviousTable(
  config: Config,
  { stations, states }: ReadCountry,
  changedIds: readonly string[],
): Promise<void> {
  const db = createDb({ ...config, queryTimeoutMs: 180_000 }, "bench fill");
  try {
    await db.raw(`create table obvious_stations (id text primary key, lat float8, lon float8, brand text, name text,
      addr text, status text, fuels_now text, fuels_no text, prices text, queue text, limit_l int, no_cash boolean,
      fuel_cards_only boolean, confirmations int, real_count int, seeded boolean, updated text, pending_status text,
      pending_count int, resolution_reason text, conflict jsonb, pos point, changed_at timestamptz)`);
    const changed = new Set(changedIds);
    const now = Date.now();
    const flat = stations.map((one) => ({
      ...one,
      prices: "",
      ...view(states.get(one.id) ?? emptyState, now, config.statusLifetimeMs),
      pos: `(${one.lon},${one.lat})`,
      // Later than the moment that the request names, which is not known yet.
      changed_at: new Date(changed.has(one.id) ? now + 3600_000 : now - 3600_000).toISOString(),
    }));
    for (let from = 0; from < flat.length; from += chunk)
      await rows(
        db,
        "insert into obvious_stations select * from json_populate_recordset(null::obvious_stations, ?::json)",
        [JSON.stringify(flat.slice(from, from + chunk))],
      );
    await db.raw("create index on obvious_stations using gist (pos)");
    await db.raw("create index on obvious_stations (changed_at)");
    await db.raw("vacuum analyze obvious_stations");
  } finally {
    await db.destroy();
  }
}
