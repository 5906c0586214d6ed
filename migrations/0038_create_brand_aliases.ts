import type { Knex } from "knex";

/**
 * The spellings that operators have given to brands (decisions 14.25). A new table: nothing is locked, and processes of
 * the previous version do not know it.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table brand_aliases (
      -- By it spellings are compared: src/import/brand-key.ts.
      key text primary key,
      spelling text not null,
      -- As it is served; empty: no brand.
      brand text not null,
      created_at timestamptz not null default server_now()
    );
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
