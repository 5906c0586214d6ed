import type { Knex } from "knex";

/**
 * What drivers say of stations themselves: gone, closed, elsewhere, missing (decisions 15.47). A new table: nothing is
 * locked, and processes of the previous version do not look at it.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table station_suggestions (
      id bigint generated always as identity primary key,
      kind text not null check (kind in ('gone', 'closed', 'moved', 'missing')),
      -- What it is about: the station, or the place of a missing one to about 100 m.
      subject text not null,
      -- Empty for a missing one.
      station_id text not null,
      lat double precision,
      lon double precision,
      text text not null,
      -- The device's identity, as in reporters.hash, and the keyed hash of its network.
      reporter bytea not null,
      viewer bytea not null,
      -- Null while it is open.
      verdict text check (verdict in ('done', 'dismissed')),
      -- The suggestion by whose id it was decided, together with all that said the same.
      decided_with bigint,
      created_at timestamptz not null default server_now()
    );
    -- One that is open for each person, subject and kind.
    create unique index station_suggestions_open on station_suggestions (subject, kind, reporter) where verdict is null;
    create index station_suggestions_decided on station_suggestions (decided_with);
    create index station_suggestions_viewer on station_suggestions (viewer, created_at);
    create index station_suggestions_reporter on station_suggestions (reporter);
    create index station_suggestions_created on station_suggestions (created_at);
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
