import type { Knex } from "knex";

/**
 * Every session keeps the plan of its first call: in a country without statuses it was one that reads the whole index of
 * them for each batch of marks, until Postgres analyzed the table. A subquery in place of `not exists` is one probe for
 * each station whatever the tables hold. Replaces a function only, and locks nothing.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create or replace function lock_stations(wanted text[], skip_locked boolean) returns setof text
    language plpgsql set enable_seqscan = off as $$
    begin
      insert into station_status (station_id)
        select w.id from unnest(wanted) as w (id)
        where (select st.station_id from station_status st where st.station_id = w.id) is null
          and (select s.id from stations s where s.id = w.id) is not null
        order by w.id on conflict do nothing;
      if skip_locked then
        return query select st.station_id from station_status st where st.station_id = any(wanted)
          order by st.station_id for no key update skip locked;
      else
        return query select st.station_id from station_status st where st.station_id = any(wanted)
          order by st.station_id for no key update;
      end if;
    end
    $$;
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
