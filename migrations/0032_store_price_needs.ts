import type { Knex } from "knex";

/**
 * How many devices the prices of a mark need where they are out of line, by grade (decisions 2.29). Null for
 * marks without such a price and for all older ones: their prices need what their mark needs. A column without a default
 * writes no row; `marks` and its partitions are locked for milliseconds. Processes of the previous version do not know
 * it: they leave it empty, and serve such a price as they did before.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw("alter table marks add column prices_needed jsonb");
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
