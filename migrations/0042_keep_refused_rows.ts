import type { Knex } from "knex";

/**
 * The rows that an import of the console has left out, as gzipped CSV (decisions 14.9). A new column without a default
 * writes no row; the table, which has few, is locked for a moment. Processes of the previous version do not name it.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw("alter table imports add column refused_rows bytea");
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
