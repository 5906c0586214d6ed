import type { Knex } from "knex";

/**
 * Reporters and networks whose marks an operator holds until a time (decisions 4.13). A new table and a column
 * without a default: no row is rewritten.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table reporters add column blocked_until timestamptz;
    create table network_blocks (
      viewer bytea primary key,
      until timestamptz not null,
      created_at timestamptz not null default server_now()
    );
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
