import type { Knex } from "knex";

/**
 * When its own driver took a mark back (decisions 15.35): what an operator has withdrawn has no such time. A column
 * without a default writes no row; `marks` and its partitions are locked for milliseconds. Processes of the previous
 * version do not know it: to them such a mark still starts its device's cooldown.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw("alter table marks add column taken_back_at timestamptz");
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
