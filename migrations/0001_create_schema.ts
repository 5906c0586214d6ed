import type { Knex } from "knex";

/**
 * The whole first schema. Nothing is locked: every table is new.
 * `server_now()` is the only clock SQL may use: tests shift it together with the processes' clock.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create function server_now() returns timestamptz language sql volatile as $$
      select clock_timestamp()
        + make_interval(secs => coalesce(nullif(current_setting('fuelmark.clock_offset_s', true), ''), '0')::double precision)
    $$;

    create table partners (
      id integer generated always as identity primary key,
      name text not null check (name <> ''),
      rpm integer not null default 120 check (rpm between 1 and 100000),
      daily integer not null default 50000 check (daily between 1 and 100000000),
      enabled boolean not null default true,
      bind_ips boolean not null default true,
      accept_remote boolean not null default true,
      cache_ttl_s integer check (cache_ttl_s between 0 and 3600),
      created_at timestamptz not null default server_now(),
      updated_at timestamptz not null default server_now()
    );

    create table keys (
      id integer generated always as identity primary key,
      partner_id integer not null references partners,
      kind text not null check (kind in ('secret', 'publishable')),
      prefix text not null,
      hash bytea not null unique,
      label text not null default '',
      domains text[] not null default '{}',
      ips text[] not null default '{}',
      confirm_min integer not null default 0 check (confirm_min in (0, 1) or confirm_min between 3 and 1000),
      reports boolean not null default true,
      mass_no_limit integer not null default 20 check (mass_no_limit >= 1),
      expires_at timestamptz,
      revoked_at timestamptz,
      last_used_at timestamptz,
      created_at timestamptz not null default server_now(),
      updated_at timestamptz not null default server_now()
    );
    create index keys_partner on keys (partner_id);

    -- Ids are never reused: a station taken out of service keeps its row (removed_at).
    create table stations (
      id text primary key check (id ~ '^[A-Za-z0-9_-]{1,64}$'),
      source text not null,
      lat double precision not null check (lat between -90 and 90),
      lon double precision not null check (lon between -180 and 180),
      brand text not null default '',
      name text not null default '',
      addr text not null default '',
      removed_at timestamptz,
      created_at timestamptz not null default server_now(),
      updated_at timestamptz not null default server_now()
    );
    create index stations_source on stations (source);

    create table cities (
      id text primary key,
      source text not null,
      name text not null check (name <> ''),
      region text not null default '',
      lat double precision not null check (lat between -90 and 90),
      lon double precision not null check (lon between -180 and 180),
      population integer not null default 0 check (population >= 0),
      updated_at timestamptz not null default server_now()
    );

    -- partner_id is null for the widget's anonymous devices. first_seen is null until the first accepted mark.
    create table reporters (
      id bigint generated always as identity primary key,
      hash bytea not null unique,
      partner_id integer references partners,
      viewer bytea,
      first_seen timestamptz
    );
    create index reporters_new on reporters (partner_id, first_seen);
    create index reporters_new_viewer on reporters (viewer, first_seen) where viewer is not null;

    create sequence mark_seq as bigint maxvalue 4294967295 cycle;

    -- id = UTC day number << 32 | sequence, so that range partitions by day prune and PK(id) alone is unique.
    -- No foreign keys to or from it: they would block detaching and make partition creation wait.
    create table marks (
      id bigint not null,
      station_id text not null,
      reporter_id bigint not null,
      partner_id integer,
      key_id integer,
      source text not null check (source in ('partner', 'widget', 'demo')),
      viewer bytea,
      external_id text,
      status text not null check (status in ('yes', 'low', 'no', 'queue')),
      received_at timestamptz not null,
      effective_at timestamptz not null,
      lat double precision,
      lon double precision,
      acc_m double precision,
      express boolean not null default false,
      fuels text[],
      fuels_no text[],
      queue text,
      prices jsonb,
      limit_l integer,
      limit_stated boolean not null default false,
      no_cash boolean,
      fuel_cards_only boolean,
      comment text,
      remote boolean not null,
      needed smallint not null check (needed >= 1),
      rule text not null check (rule in ('key-threshold', 'remote', 'no-nearby-marks', 'geolocated')),
      newcomer boolean not null default false,
      review text not null default 'none' check (review in ('none', 'held', 'approved', 'rejected', 'withdrawn', 'expired')),
      processed_at timestamptz,
      outcome text check (outcome in ('published', 'confirmed', 'pending', 'conflict', 'superseded', 'held', 'expired')),
      outcome_status text,
      outcome_reason text,
      outcome_have integer,
      failed_at timestamptz,
      failure text,
      primary key (id)
    ) partition by range (id);
    create index marks_station on marks (station_id, effective_at);
    create index marks_reporter on marks (reporter_id, received_at);
    create index marks_unprocessed on marks (station_id) where processed_at is null;
    create index marks_held on marks (id) where review = 'held';
    create index marks_newcomers_no on marks (received_at) where newcomer and status = 'no';

    create table mark_keys (
      partner_id integer not null references partners,
      external_id text not null,
      mark_id bigint not null,
      station_id text not null,
      at timestamptz not null,
      primary key (partner_id, external_id)
    );
    create index mark_keys_at on mark_keys (at);

    -- A reporter's last counted mark on a station, whole: what the fold needs to take one more step.
    create table opinions (
      station_id text not null references stations,
      reporter_id bigint not null references reporters,
      mark_id bigint not null,
      effective_at timestamptz not null,
      mark jsonb not null,
      primary key (station_id, reporter_id)
    );

    -- state is the fold over the station's counted marks, as of its last step; status is what it shows, kept
    -- true over time by upkeep (next_at: when time alone changes it next). refold: a review or a rollback
    -- touched the station's marks, and its state must be folded anew.
    create table station_status (
      station_id text primary key references stations,
      state jsonb,
      status text not null default 'nodata' check (status in ('yes', 'low', 'no', 'queue', 'nodata')),
      next_at timestamptz,
      refold boolean not null default false,
      updated_at timestamptz not null default server_now()
    );
    create index station_status_next on station_status (next_at) where next_at is not null;
    create index station_status_refold on station_status (station_id) where refold;

    -- Imported statuses: events of the fold at their time of import.
    create table seeds (
      station_id text not null references stations,
      imported_at timestamptz not null,
      updated timestamptz not null,
      status text not null check (status in ('yes', 'low', 'no', 'queue')),
      fuels_now text[] not null default '{}',
      fuels_no text[] not null default '{}',
      source text not null,
      primary key (station_id, imported_at)
    );

    create table changes (
      station_id text primary key references stations,
      seq bigint not null unique,
      at timestamptz not null,
      removed boolean not null default false
    );
    create sequence change_seq as bigint;

    create table usage_days (
      partner_id integer not null references partners,
      day date not null,
      audience text not null check (audience in ('partner', 'widget')),
      method text not null,
      requests bigint not null default 0,
      not_modified bigint not null default 0,
      errors bigint not null default 0,
      primary key (partner_id, day, audience, method)
    );
    create table usage_batches (
      id text primary key,
      at timestamptz not null default server_now()
    );

    create table limit_requests (
      id integer generated always as identity primary key,
      partner_id integer not null references partners,
      status text not null default 'pending' check (status in ('pending', 'approved', 'rejected')),
      requested_rpm integer not null check (requested_rpm between 1 and 100000),
      requested_daily integer not null check (requested_daily between 1 and 100000000),
      comment text not null default '',
      created_at timestamptz not null default server_now(),
      decided_at timestamptz,
      decision_comment text not null default ''
    );
    create unique index limit_requests_one_pending on limit_requests (partner_id) where status = 'pending';

    create table operator_log (
      id bigint generated always as identity primary key,
      at timestamptz not null default server_now(),
      actor text not null,
      action text not null,
      subject text not null,
      details jsonb not null default '{}'
    );
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
