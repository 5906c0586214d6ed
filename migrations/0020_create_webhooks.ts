import type { Knex } from "knex";

/**
 * Webhooks of partners (decisions 20). New tables, and a column without a default: no row is rewritten, and
 * processes of the previous version do not look at them.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Stations that time alone has changed, numbered in the order of commits as changes are; upkeep alone writes it.
    create sequence time_change_seq as bigint;
    create table time_changes (
      station_id text primary key,
      seq bigint not null unique,
      at timestamptz not null
    );

    create table webhook_endpoints (
      id integer generated always as identity primary key,
      partner_id integer not null references partners,
      url text not null,
      events text[] not null,
      description text not null default '',
      -- Sealed with the pepper. The old one signs as well until its time.
      secret bytea not null,
      old_secret bytea,
      old_secret_until timestamptz,
      -- Everything up to these numbers is in a delivery: the truth of stations.changed.
      change_seq bigint not null default 0,
      time_change_seq bigint not null default 0,
      -- When the last batch of stations was made.
      stations_at timestamptz not null default '-infinity',
      off_at timestamptz,
      off_reason text check (off_reason in ('partner', 'operator', 'failing', 'gone')),
      -- One delivery at a time: who sends claims the endpoint first.
      claims bigint not null default 0,
      claimed_until timestamptz not null default '-infinity',
      tried_at timestamptz not null default '-infinity',
      -- Nothing is sent before: the pause after a failure.
      next_at timestamptz not null default '-infinity',
      failures integer not null default 0,
      failing_since timestamptz,
      created_at timestamptz not null default server_now(),
      updated_at timestamptz not null default server_now()
    );
    create index webhook_endpoints_partner on webhook_endpoints (partner_id);

    -- What is sent. A row with an event of its own is written in the transaction that decides it.
    create table webhook_deliveries (
      id bigint generated always as identity primary key,
      endpoint_id integer not null references webhook_endpoints on delete cascade,
      -- The same when it is sent again.
      message_id text not null default 'msg_' || replace(gen_random_uuid()::text, '-', ''),
      type text not null,
      -- What is looked up when it is sent: {"stations": […]} or {"marks": […]}; else what is sent as it is.
      data jsonb not null,
      created_at timestamptz not null default server_now(),
      delivered_at timestamptz,
      attempts integer not null default 0,
      tried_at timestamptz,
      -- What the last attempt was answered with: the status, the first of the body, or why there was none.
      status integer,
      answer text,
      fault text,
      duration_ms integer
    );
    create index webhook_deliveries_endpoint on webhook_deliveries (endpoint_id, id);
    create index webhook_deliveries_waiting on webhook_deliveries (endpoint_id, id) where delivered_at is null;
    create index webhook_deliveries_created on webhook_deliveries (created_at);

    -- Outcomes of partners' marks that are in no delivery yet. No foreign key: a mark's transaction waits for nothing here.
    create table webhook_outcomes (
      id bigint generated always as identity primary key,
      endpoint_id integer not null,
      mark_id bigint not null,
      at timestamptz not null default server_now()
    );
    create index webhook_outcomes_endpoint on webhook_outcomes (endpoint_id, id);

    -- The end that the partner was told of.
    alter table keys add column expiry_told timestamptz;
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
