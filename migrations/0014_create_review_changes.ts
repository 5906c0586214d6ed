import type { Knex } from "knex";

/**
 * Harmful changes that counted, by source and by city, for the limits of the review (decisions 4.5, 4.6): what
 * one source or one city may change in an hour. Kept for two days. And why a mark is held. A new table and a column
 * without a default: nothing is rewritten, `marks` is locked for milliseconds.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table review_changes (
      mark_id bigint primary key,
      at timestamptz not null,
      station_id text not null,
      source text not null,
      city text not null,
      from_status text not null,
      to_status text not null
    );
    create index review_changes_source on review_changes (source, at);
    create index review_changes_city on review_changes (city, at);
    create index review_changes_station on review_changes (station_id, at);
    alter table marks add column held_reason text;
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
