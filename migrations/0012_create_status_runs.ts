import type { Knex } from "knex";

/**
 * Which status a station served from when to when, so that history and insights need no marks (decisions 2.36).
 * A new table; nothing is locked. What stations serve at this moment begins a run now; `operator runs rebuild` makes
 * the runs before it, and those that workers of the previous version leave out. No foreign key: a run is written
 * only while its station's row in `station_status` is locked.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- to_at is null while the station still serves the status.
    create table status_runs (
      station_id text not null,
      status text not null check (status in ('yes', 'low', 'no', 'queue', 'nodata')),
      from_at timestamptz not null,
      to_at timestamptz check (to_at > from_at),
      primary key (station_id, from_at)
    );
    insert into status_runs (station_id, status, from_at)
      select station_id, status, date_trunc('milliseconds', server_now()) from station_status where status <> 'nodata';
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
