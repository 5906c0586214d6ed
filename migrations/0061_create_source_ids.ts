import type { Knex } from "knex";

/**
 * Stations whose id is not the one that their source's own id makes, because that one is another station's (decisions
 * 14.43). A new, empty table: which own ids earlier versions have cut is stored nowhere, so the next import finds out
 * whose station it is. Its reference lets no row of `stations` be written for some milliseconds. Processes of the
 * previous version do not know it.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table source_ids (
      source text not null,
      -- The id that the source's own id makes.
      plain text not null,
      station_id text not null references stations,
      primary key (plain, source)
    );
    create index source_ids_source on source_ids (source);
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
