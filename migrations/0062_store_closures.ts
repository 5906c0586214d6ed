import type { Knex } from "knex";

/**
 * Stations that are closed for now (decisions 14.57). A column with a constant default writes no row; the table is locked
 * for a moment. Processes of the previous version do not name it: they leave it as it is.
 */
export async function up(knex: Knex): Promise<void> {
  // "FROM/UNTIL", each a time as it is served, or empty while unknown; '' for a station that is not closed.
  await knex.raw("alter table stations add column closed text not null default ''");
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
