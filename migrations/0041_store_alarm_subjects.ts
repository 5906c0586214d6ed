import type { Knex } from "knex";

/**
 * The subject of an alarm by code and values, so that the console says it in its languages (decisions 16.17). The column
 * is null in rows of before and in those of processes of the previous version: their `subject` is shown in English.
 * Locks the table for a moment and writes no row.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw("alter table alarms add column said jsonb");
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
