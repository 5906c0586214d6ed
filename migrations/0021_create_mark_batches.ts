import type { Knex } from "knex";

/**
 * A record of each decision about many marks, so that it can be taken back (decisions 4.20): a rollback, or held marks
 * that were approved or rejected together. `mark_batch_marks` holds what the marks were before, until they are that again.
 * And a limit of a key that holds until a time (4.22). New tables, and columns without a default: `keys` is locked for
 * milliseconds. A rollback of the previous version leaves no record.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table mark_batches (
      id integer generated always as identity primary key,
      act text not null check (act in ('rollback', 'approve', 'reject')),
      actor text not null,
      selection jsonb not null,
      -- How many stations it is about, how many of them are done, and the marks that it took there.
      stations integer not null,
      stations_done integer not null default 0,
      marks integer not null default 0,
      started_at timestamptz not null default server_now(),
      finished_at timestamptz,
      undo_actor text,
      undo_at timestamptz,
      undone_at timestamptz
    );
    -- Who asks for the same again goes on with what was broken off.
    create unique index mark_batches_open on mark_batches (act, md5(selection::text))
      where finished_at is null and undo_at is null;

    create table mark_batch_marks (
      batch_id integer not null references mark_batches,
      mark_id bigint not null,
      station_id text not null,
      review text not null,
      processed_at timestamptz,
      failed_at timestamptz,
      outcome text,
      outcome_status text,
      outcome_reason text,
      outcome_have integer,
      needed smallint not null,
      rule text not null,
      primary key (batch_id, station_id, mark_id)
    );
    create index mark_batch_marks_mark on mark_batch_marks (mark_id);

    alter table keys add column limited_to integer check (limited_to >= 1), add column limited_until timestamptz;
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
