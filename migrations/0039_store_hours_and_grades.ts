import type { Knex } from "knex";

/**
 * What a station sells and when it is open (decisions 14.19), and the imports' values where an operator has set them by
 * hand. Columns with constant defaults write no row; each table is locked for a moment. The check of
 * `station_edits`, which has few rows, is made anew to know the new columns. Processes of the previous version do
 * not name the columns: they leave them as they are.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table stations
      -- Grades in the order of the contract, "92,95,ДТ"; '' while unknown.
      add column grades_sold text not null default '',
      -- As OSM writes them, "Mo-Fr 06:00-22:00"; '' while unknown.
      add column opening_hours text not null default '';
    alter table station_edits
      add column file_grades_sold text,
      add column file_opening_hours text,
      drop constraint station_edits_check1,
      add constraint station_edits_some check (num_nonnulls(file_name, file_brand, file_addr, file_lat,
        file_grades_sold, file_opening_hours, in_service) > 0);
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
