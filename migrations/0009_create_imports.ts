import type { Knex } from "knex";

/** Imports that were started in the console, with how far they are: any web process can show them. A new table. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table imports (
      id integer generated always as identity primary key,
      kind text not null check (kind in ('stations', 'cities', 'statuses')),
      file text not null,
      source text,
      replace_source boolean not null,
      dry_run boolean not null,
      actor text not null,
      state text not null default 'running' check (state in ('running', 'done', 'refused', 'failed')),
      step text not null default '',
      done bigint not null default 0,
      total bigint,
      summary jsonb,
      fault text,
      started_at timestamptz not null default server_now(),
      -- The process that runs it says so every second or so: one that is silent has died.
      seen_at timestamptz not null default server_now(),
      finished_at timestamptz
    );
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
