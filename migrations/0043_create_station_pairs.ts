import type { Knex } from "knex";

/**
 * Pairs of stations of different sources that are one, that a person keeps apart, or that wait for a person (decisions
 * 14.29). A new table, whose references let no row of `stations` be written for some milliseconds; and a column of
 * `marks` without a default, so no row is written. Workers of the previous version do not move marks; those of this one
 * do when they come.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table station_pairs (
      -- The station that is, or would be, a part of the other one.
      station_id text not null references stations,
      into_id text not null references stations,
      verdict text not null check (verdict in ('joined', 'apart', 'doubtful')),
      -- The operator, or "import".
      actor text not null,
      at timestamptz not null default server_now(),
      distance_m integer not null default 0,
      evidence text[] not null default '{}',
      -- Marks are on the way to the station where the verdict wants them.
      moving boolean not null default false,
      primary key (station_id, into_id),
      check (station_id <> into_id)
    );
    -- A station is a part of one other at most.
    create unique index station_pairs_joined on station_pairs (station_id) where verdict = 'joined';
    create index station_pairs_into on station_pairs (into_id);
    create index station_pairs_moving on station_pairs (station_id) where moving;
    create index station_pairs_doubtful on station_pairs (station_id) where verdict = 'doubtful';

    -- Other registers' ids of a station, of tags such as ref:mise.
    create table station_refs (
      station_id text primary key references stations,
      refs text[] not null
    );

    -- The station that the mark was at before it came to this one.
    alter table marks add column moved_from text;
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
