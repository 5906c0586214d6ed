import type { Knex } from "knex";

/**
 * Which server, and which timeline of its log, the service has last worked on (decisions 16.29): after a failover
 * or a restore they are others, and upkeep then marks all stations as changed. The system identifier is above 2^53, so
 * it is text. One new table with one row; nothing is locked.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table database_identity (
      only_row boolean primary key default true check (only_row),
      system_identifier text not null,
      timeline text not null,
      known_since timestamptz not null default server_now()
    );
    insert into database_identity (system_identifier, timeline)
      select system_identifier::text, left(pg_walfile_name(pg_current_wal_lsn()), 8) from pg_control_system();
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
