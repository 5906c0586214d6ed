import type { Knex } from "knex";

/**
 * A station's first mark need not check twice that the station exists, nor lock its row: `lock_stations` reads it in
 * the same transaction, and no station is ever deleted, as in 0051_find_stations_by_latitude. Locks `stations` and
 * `station_status` for milliseconds. It tries for 0.2 s to get both, so that nobody waits longer, and for 8 s in all:
 * behind a backup it fails, changes nothing, and is started again. Processes of the previous version need not know it.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    do $$ begin
      perform set_config('lock_timeout', '200ms', true);
      for try in 1 .. 20 loop
        begin
          alter table station_status drop constraint if exists station_status_station_id_fkey;
          return;
        exception when lock_not_available then
          perform pg_sleep(0.2);
        end;
      end loop;
      raise lock_not_available using message = 'stations or station_status was in use by a long transaction: end it (pg_stat_activity), or wait for the backup, then start the release again';
    end $$;
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
