import type { Knex } from "knex";

/**
 * What operators have set by hand at stations, and what the imports say in its place (decisions 14.5). A new
 * table. Its reference to `stations` lets no row of that table be written while it is made: some milliseconds, after
 * the transactions that write there have ended (an import's are of 1,000 stations).
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Null in a file_… column: the field is as the imports say, and stands in "stations" alone.
    create table station_edits (
      station_id text primary key references stations,
      file_name text,
      file_brand text,
      file_addr text,
      file_lat double precision,
      file_lon double precision,
      -- False: closed by hand; true: kept in service by hand, though the imports have taken it out.
      in_service boolean,
      -- Whether the imports have taken it out; told only of stations that an operator has closed or reopened.
      file_removed boolean not null default false,
      check ((file_lat is null) = (file_lon is null)),
      check (num_nonnulls(file_name, file_brand, file_addr, file_lat, in_service) > 0)
    );
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
