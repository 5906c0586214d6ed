import type { Knex } from "knex";

/**
 * Requests that a limit or a key refused before they were counted, by hour (decisions 12.12). A new column with a
 * constant default writes no row; the table is locked for a moment. Processes of the previous version do not name it.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw("alter table usage_hours add column refused bigint not null default 0");
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
