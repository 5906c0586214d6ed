import type { Knex } from "knex";

/**
 * What each kind of deletion by age has come to, and what it asks an operator before it deletes an unusual amount
 * (decisions 21.10). A new table: nothing is locked, and processes of the previous version do not know it.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table retention_steps (
      step text primary key,
      -- The database's time at which it had last deleted what was due.
      done_at timestamptz,
      -- What waits for an operator: since when, how much, and how old. Null: nothing does.
      asked_at timestamptz,
      count bigint,
      oldest timestamptz,
      kept_from timestamptz,
      allowed_at timestamptz
    );
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
