import type { Knex } from "knex";

/**
 * Partitions of \`marks\`, one per UTC day. CREATE LIKE + ATTACH takes no lock that a reader or writer waits for,
 * where PARTITION OF would. Several processes may ask at once: an advisory lock makes the second a no-op.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create function ensure_mark_partitions(first_day date, days integer) returns integer language plpgsql as $$
    declare
      made integer := 0;
      d date;
      n bigint;
      part text;
    begin
      perform pg_advisory_xact_lock(7166734);
      for i in 0 .. days - 1 loop
        d := first_day + i;
        n := d - date '1970-01-01';
        part := 'marks_' || to_char(d, 'YYYYMMDD');
        if to_regclass(part) is null then
          execute format('create table %I (like marks including all)', part);
          execute format('alter table %I add constraint %I check (id >= %s and id < %s)', part, part || '_range', n << 32, (n + 1) << 32);
          execute format('alter table marks attach partition %I for values from (%s) to (%s)', part, n << 32, (n + 1) << 32);
          made := made + 1;
        end if;
      end loop;
      return made;
    end
    $$;

    -- Ids are made where they are stored, so that the day in the id and received_at cannot disagree.
    create function next_mark_id(received timestamptz) returns bigint language sql volatile as $$
      select (((received at time zone 'UTC')::date - date '1970-01-01')::bigint << 32) | nextval('mark_seq')
    $$;

    select ensure_mark_partitions((server_now() at time zone 'UTC')::date - 2, 10);
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
