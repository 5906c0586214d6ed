import type { Knex } from "knex";

/**
 * Whoever follows the marks asks for the stations of the last folds each three seconds: without an index each question
 * read the whole table, 137 MB with 180,000 statuses. Folds pay nothing that can be measured: `next_at`, which is
 * indexed, changes with nearly every one, so no update was done in place before. Folds wait while the index is made,
 * less than a second for so many rows. Processes of the previous version need not know it.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw("create index station_status_updated on station_status (updated_at)");
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
