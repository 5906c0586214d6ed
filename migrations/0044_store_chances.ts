import type { Knex } from "knex";

/**
 * The chance that a station has fuel (decisions 23.9), beside its state. A column without a default writes no row, and
 * the check is not tried on the rows that are there, which have none: the table is locked for a moment. Processes of the
 * previous version do not name the column: they leave it as it is.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Percent in steps of 5; null while unknown.
    alter table station_status add column chance smallint,
      add constraint station_status_chance check (chance between 0 and 100 and chance % 5 = 0) not valid;
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
