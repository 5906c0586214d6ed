import type { Knex } from "knex";

/**
 * Files of sources that the role `imports` fetches by itself (decisions 14.35). A new table; each run of a feed is a row
 * of `imports`, which is locked for an instant while its checks change. Processes of the previous version list such
 * rows by the names of their kind and state, and make none.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table feeds (
      id integer generated always as identity primary key,
      source text not null,
      -- The operator's own; null for a source that comes with Fuelmark.
      description jsonb,
      -- Each an address, or a path below FEEDS_FOLDER whose file name may hold *.
      files text[] not null,
      replace_source boolean not null,
      every_s integer not null,
      alarm_after_s integer not null,
      paused_at timestamptz,
      due_at timestamptz not null default server_now(),
      -- Guards that an operator has overruled for the next run.
      force text[] not null default '{}',
      -- Its newest run, and the number of those in a row without success.
      run_id integer,
      failures integer not null default 0,
      -- What was imported last, to know it again.
      seen jsonb,
      -- When it last brought something new, was added or resumed; and when an operator was last told of its silence.
      news_at timestamptz not null default server_now(),
      told_at timestamptz,
      created_at timestamptz not null default server_now()
    );
    alter table imports
      add column feed_id integer references feeds (id) on delete set null,
      drop constraint imports_kind_check,
      add check (kind in ('stations', 'cities', 'statuses', 'feed')),
      drop constraint imports_state_check,
      add check (state in ('running', 'done', 'unchanged', 'refused', 'failed'));
    create index imports_feed_id on imports (feed_id, id) where feed_id is not null;
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
