import type { Knex } from "knex";

/**
 * What statements need that are sent behind each other without waiting for answers. `expect_count` lets one fail that
 * did not touch as many rows as it must, so that the commit behind it undoes the transaction instead. `feed_safe`
 * gives its lock back by itself: in a transaction with others it would hold the feed's writers up until its end.
 * Locks nothing.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create function expect_count(counted bigint, expected bigint) returns void language plpgsql as $$
    begin
      if counted <> expected then
        raise exception '% of % rows were as expected', counted, expected using errcode = 'FM001';
      end if;
    end
    $$;

    create or replace function feed_safe() returns timestamptz language plpgsql as $$
    declare
      t timestamptz;
    begin
      if pg_try_advisory_lock_shared(7166733) then
        t := server_now();
        perform pg_advisory_unlock_shared(7166733);
      end if;
      return t;
    end
    $$;
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
