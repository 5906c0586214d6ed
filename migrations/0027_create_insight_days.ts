import type { Knex } from "knex";

/**
 * How long the stations of each city served each status on past days, counted once from `status_runs`, and from when on
 * runs of past days were rewritten since (decisions 7.45). New tables; nothing is locked. Workers of the previous
 * version do not note what they rewrite: `operator runs rebuild` has all days counted anew.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table insight_days (
      day date primary key,
      made_at timestamptz not null,
      -- By city id, "" for stations without a city: stations, then ms of yes, low, no, queue.
      cities jsonb not null
    );
    -- Without a key: whoever writes waits for nobody.
    create table rewritten_runs (since timestamptz not null);
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
