import type { Knex } from "knex";

/**
 * Transactions tell which time they expect, and are refused while the database's clock is another one (decisions
 * 21.3): else marks of that moment lie in the future for as long as the clock was ahead. `steady_now` is for what waits
 * for locks between the check and the time. `feed_stamp` puts changes right that were stamped in the future before:
 * `greatest` would keep all later ones there. Replaces functions only, and locks nothing. Processes of the previous
 * version expect nothing, and are refused only when the clock steps within a transaction.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Both in ms. 57 is the class of a server that cannot work now: callers try again.
    create function expect_time(expected double precision, bound double precision) returns void language plpgsql as $$
    declare
      off double precision := extract(epoch from clock_timestamp()) * 1000 - expected;
    begin
      if abs(off) > bound then
        raise exception 'the clock of the database is % s off', round(off / 1000) using errcode = '57FM1';
      end if;
      perform set_config('fuelmark.time_checked', '1', true);
    end
    $$;

    create function steady_now(longest interval default '1 minute') returns timestamptz language plpgsql as $$
    declare
      passed interval := clock_timestamp() - now();
    begin
      if passed < interval '-5 s' or passed > longest then
        raise exception 'the clock of the database stepped by %', passed using errcode = '57FM1';
      end if;
      return server_now();
    end
    $$;

    create or replace function feed_stamp(ids text[], gone boolean default false) returns bigint language plpgsql as $$
    declare
      t timestamptz;
      newest timestamptz;
    begin
      if coalesce(array_length(ids, 1), 0) = 0 then return null; end if;
      perform pg_advisory_xact_lock(7166733);
      -- An import may work for minutes before it stamps.
      t := steady_now(interval '1 hour');
      select c.at from changes c order by c.seq desc limit 1 into newest;
      if newest > t + interval '1 minute' and current_setting('fuelmark.time_checked', true) = '1' then
        update changes set seq = nextval('change_seq'), at = t where at > t;
        newest := t;
      end if;
      t := greatest(t, newest);
      insert into changes (station_id, seq, at, removed)
        select x.id, nextval('change_seq'), t, gone from (select distinct unnest(ids) as id order by 1) x
        on conflict (station_id) do update set seq = excluded.seq, at = excluded.at, removed = excluded.removed;
      perform pg_notify('changes', '');
      return currval('change_seq');
    end
    $$;
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
