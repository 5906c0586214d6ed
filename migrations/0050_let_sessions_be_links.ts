import type { Knex } from "knex";

/**
 * Links that show a partner's dashboard (decisions 12.16) are sessions of the kind `link`, with a label. The column has
 * a constant default and writes no row; `sessions`, which has few rows, is locked while they are checked. Processes of
 * the previous version do not find sessions of this kind.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table sessions
      add column label text not null default '',
      drop constraint sessions_kind_check,
      add check (kind in ('key', 'operator', 'link'));
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
