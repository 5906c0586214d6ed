import type { Knex } from "knex";

/**
 * Who follows the marks for the chances, and how far (decisions 23.10): one row, that of the process that may write them.
 * A new table, so nothing is locked. Processes of the previous version know nothing of it.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table chance_follower (
      one boolean primary key default true check (one),
      holder uuid,
      renewed_at timestamptz,
      -- Every mark that was processed before it is in the chances; null before the first.
      followed_at timestamptz,
      marks bigint not null default 0,
      levels bigint not null default 0
    );
    insert into chance_follower default values;
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
