import type { Knex } from "knex";

/**
 * The review counts the stations around a city; without an index it read all stations for it. And what nobody needs
 * is taken from each mark: the checks that its partner and its station exist, which also lock their rows. Both are read
 * in the same transaction, and neither is ever deleted. Blocks writes to stations, imports and edits, while the index is
 * built, a second with 300,000; mark_keys and opinions are locked for milliseconds.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create index stations_latitude on stations (lat);
    alter table mark_keys drop constraint mark_keys_partner_id_fkey;
    alter table opinions drop constraint opinions_station_id_fkey;
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
