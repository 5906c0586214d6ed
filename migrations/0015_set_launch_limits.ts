import type { Knex } from "knex";

/**
 * What a partner may do that is not usual: new users in a day, and for the days of a launch a budget and a limit of
 * harmful marks of their own (decisions 3.9, 4.17). New columns without a default: no row is rewritten.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table partners
      add column new_users_daily integer check (new_users_daily >= 1),
      add column launch_until timestamptz,
      add column launch_new_users integer check (launch_new_users >= 1),
      add column launch_limit integer check (launch_limit >= 1),
      add constraint partners_launch check (
        num_nulls(launch_until, launch_new_users, launch_limit) in (0, 3));
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
