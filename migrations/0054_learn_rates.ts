import type { Knex } from "knex";

/**
 * What an instance has learnt of how long stations have fuel (decisions 23.21): one row. A new table, so nothing is locked.
 * Processes of the previous version know nothing of it and follow with the shipped numbers.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table chance_learning (
      one boolean primary key default true check (one),
      learns boolean not null default false,
      -- In place of the shipped ones; null: those.
      rates jsonb,
      -- The last night that looked, what it looked at and what came of it.
      looked_at timestamptz,
      stations int not null default 0,
      marks int not null default 0,
      changes int not null default 0,
      result text not null default 'none'
    );
    insert into chance_learning default values;
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
