import type { Knex } from "knex";

/** What stations said of each grade by day, for `/insights/cities` and `/overview` (decisions 7.47). */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table insight_grades (
      day date primary key,
      looked_at timestamptz not null,
      -- By city id, "" for stations without a city: sums over the day's looks of the stations that have the grade and of
      -- those that are out of it, for 92, 95, 98, 100, ДТ one after the other.
      cities jsonb not null
    )`);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
