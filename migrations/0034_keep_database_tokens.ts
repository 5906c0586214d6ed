import type { Knex } from "knex";

/**
 * Random names of the database's states (decisions 21.22): a database that was restored in place has the same
 * system identifier and timeline as before, and does not know the names that were made after the backup. Two columns with
 * constant defaults in a table of one row, locked for a moment, and a new table. Nobody writes to either on the way of a
 * mark.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table database_identity
      add column is_doubted boolean not null default false,
      -- The number of the token that was made when all stations were last marked as changed.
      add column followed_to bigint not null default 0;
    create table database_tokens (
      number bigint primary key,
      token uuid not null default gen_random_uuid(),
      -- What was given out by then: without new numbers there is no new token.
      change_seq bigint not null,
      mark_seq bigint not null
    );
    insert into database_tokens (number, change_seq, mark_seq) values (1, 0, 0);
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
