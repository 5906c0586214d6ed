import type { Knex } from "knex";

/**
 * What drivers want to be told of, and the browsers it goes to (decisions 15.25). New tables: nothing is locked,
 * and processes of the previous version do not look at them.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- A browser that is told. One for each device of the map.
    create table push_devices (
      id bigint generated always as identity primary key,
      -- The device's identity, as in reporters.hash.
      reporter bytea not null unique,
      -- Keyed hash of the network that asked last.
      viewer bytea not null,
      -- Keyed hash of the address at the push service.
      endpoint_hash bytea not null,
      -- Address and keys, sealed with the pepper.
      sealed bytea not null default '',
      lang text not null check (lang in ('ru', 'en')),
      -- Empty: not known.
      time_zone text not null default '',
      -- Notifications of a day: the device's own, else of UTC.
      sent_day date,
      sent_count integer not null default 0,
      sent_at timestamptz,
      -- One notification at a time: who sends claims the device first.
      claims bigint not null default 0,
      claimed_until timestamptz not null default '-infinity',
      tried_at timestamptz not null default '-infinity',
      -- Nothing is sent before: the pause after a notification or a failure, and nights.
      next_at timestamptz not null default '-infinity',
      failures integer not null default 0,
      failing_since timestamptz,
      created_at timestamptz not null default server_now()
    );
    create index push_devices_endpoint on push_devices (endpoint_hash);
    create index push_devices_viewer on push_devices (viewer);

    create table fuel_alerts (
      id bigint generated always as identity primary key,
      device_id bigint not null references push_devices on delete cascade,
      grade text not null,
      lat double precision not null,
      lon double precision not null,
      radius_m integer not null,
      created_at timestamptz not null default server_now(),
      expires_at timestamptz not null
    );
    create index fuel_alerts_device on fuel_alerts (device_id);
    create index fuel_alerts_place on fuel_alerts (grade, lat);
    create index fuel_alerts_expires on fuel_alerts (expires_at);

    -- What an alert's device is still to be told of.
    create table fuel_alert_matches (
      alert_id bigint not null references fuel_alerts on delete cascade,
      station_id text not null,
      at timestamptz not null default server_now(),
      primary key (alert_id, station_id)
    );

    -- Which grades a station had when the feed was last compared with it: what is new is told.
    create table station_grades (
      station_id text primary key,
      grades text[] not null
    );

    -- Everything up to these numbers is compared. One row.
    create table fuel_alert_cursor (
      one boolean primary key default true check (one),
      change_seq bigint not null default 0,
      time_change_seq bigint not null default 0
    );
    insert into fuel_alert_cursor default values;
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
