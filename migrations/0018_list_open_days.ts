import type { Knex } from "knex";

/**
 * The days whose marks are not all done with: what looks for unprocessed, failed or held marks reads these partitions
 * alone (decisions 16.25). A day is listed when its partition is made, by processes of the previous version too,
 * because the function does it; upkeep takes it off. A new table, and a function that does what it did. Nothing is
 * locked, and nothing is read: at first all days are listed.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table open_days (day date primary key);
    insert into open_days (day)
      select to_date(right(inhrelid::regclass::text, 8), 'YYYYMMDD') from pg_inherits
      where inhparent = 'marks'::regclass;

    create or replace function ensure_mark_partitions(first_day date, days integer) returns integer language plpgsql as $$
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
          insert into open_days (day) values (d) on conflict do nothing;
          made := made + 1;
        end if;
      end loop;
      return made;
    end
    $$;
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
