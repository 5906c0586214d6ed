import type { Knex } from "knex";

/**
 * The days whose marks hold no positions and comments any more (decisions 19.9): upkeep need not look there again.
 * And opinions have no foreign key to reporters, as marks have none: to delete a reporter Postgres would read all
 * opinions. A new table; opinions and reporters are locked for milliseconds.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table cleared_days (day date primary key);
    alter table opinions drop constraint opinions_reporter_id_fkey;
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
