import type { Knex } from "knex";

/**
 * The marks worker's lock in one round trip: gives each station that exists its row of state, then locks the rows in
 * ascending order. Locks nothing by itself when it is made. Plans are kept by the function: on a table that was empty
 * when they were made they would go on reading all of it, so that is ruled out.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create function lock_stations(wanted text[], skip_locked boolean) returns setof text
    language plpgsql set enable_seqscan = off as $$
    begin
      insert into station_status (station_id)
        select s.id from stations s
        where s.id = any(wanted) and not exists (select from station_status st where st.station_id = s.id)
        order by s.id on conflict do nothing;
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
