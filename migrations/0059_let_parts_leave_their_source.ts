import type { Knex } from "knex";

/**
 * A part that its source no longer lists: its id still answers with the whole, and the source's new row can take its
 * place. A constant default writes no row.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw("alter table station_pairs add column gone boolean not null default false");
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
