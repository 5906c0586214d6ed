import type { Knex } from "knex";

/**
 * Alarms for the operator, the two channels that tell them, and the counts of harmful changes. New tables: nothing
 * waits for this migration, and processes of the previous version do not look at them.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table alarms (
      id integer generated always as identity primary key,
      kind text not null,
      -- A source or a station: never an address or a name of a person. city: '' where there is none.
      subject text not null,
      city text not null default '',
      hour timestamptz not null,
      count integer not null default 1,
      details jsonb not null default '{}',
      raised_at timestamptz not null default server_now(),
      last_at timestamptz not null default server_now(),
      -- When each channel told it; null when it has not.
      emailed_at timestamptz,
      posted_at timestamptz,
      acknowledged_at timestamptz,
      acknowledged_by text,
      -- One alarm an hour, however often it is raised.
      unique (kind, subject, city, hour)
    );
    create index alarms_raised on alarms (raised_at);
    create index alarms_open on alarms (id) where acknowledged_at is null;

    -- A row for each way to tell the operator. Who sends claims it first, so that two processes do not send twice.
    create table alarm_channels (
      channel text primary key,
      -- Nothing is sent before: after a claim, a message or a failure.
      next_at timestamptz not null default '-infinity',
      claims bigint not null default 0,
      failures integer not null default 0,
      fault text,
      sent_at timestamptz
    );
    insert into alarm_channels (channel) values ('email'), ('webhook');

    create table harmful_changes (
      from_status text not null,
      to_status text not null,
      source_kind text not null,
      count bigint not null,
      primary key (from_status, to_status, source_kind)
    );
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
