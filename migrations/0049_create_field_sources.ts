import type { Knex } from "knex";

/**
 * Which source wins each field of a station that is joined of several (decisions 14.42), and what a station's own source
 * says of the fields that show a part's value. Two new tables, whose reference lets no row of `stations` be written for
 * some milliseconds. An import of the previous version writes the own values over those of a part; the next one of this
 * version shows these again.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table field_sources (
      field text primary key,
      -- The first one that says something wins.
      sources text[] not null
    );
    create table station_own (
      station_id text primary key references stations,
      -- By field: {"name": {"file": what the own source says, "of": the id of the part whose value is shown}}.
      fields jsonb not null
    );
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
