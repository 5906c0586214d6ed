import type { Knex } from "knex";

/**
 * The change feed. The advisory lock around number and time, taken as the last thing before commit,
 * makes `seq` and `at` follow commit order; a stranger's open transaction cannot hold it back.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- 7166733 is the feed's advisory lock. The read of the highest "at" is a later statement than the lock:
    -- in one statement it would see the snapshot from before the wait.
    -- Returns the highest number it gave.
    create function feed_stamp(ids text[], gone boolean default false) returns bigint language plpgsql as $$
    declare
      t timestamptz;
    begin
      if coalesce(array_length(ids, 1), 0) = 0 then return null; end if;
      perform pg_advisory_xact_lock(7166733);
      select greatest(server_now(), (select c.at from changes c order by c.seq desc limit 1)) into t;
      insert into changes (station_id, seq, at, removed)
        select x.id, nextval('change_seq'), t, gone from (select distinct unnest(ids) as id order by 1) x
        on conflict (station_id) do update set seq = excluded.seq, at = excluded.at, removed = excluded.removed;
      perform pg_notify('changes', '');
      return currval('change_seq');
    end
    $$;

    -- The time before which nothing new can be stamped any more, or null while a stamp is on its way.
    create function feed_safe() returns timestamptz language plpgsql as $$
    begin
      if pg_try_advisory_xact_lock_shared(7166733) then return server_now(); end if;
      return null;
    end
    $$;
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
