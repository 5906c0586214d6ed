import type { Knex } from "knex";

/** Each month is copied in a transaction of its own. */
export const config = { transaction: false };

/** Marks of younger days still change. */
const quietDays = 4;
const triesAtMost = 3600;

/**
 * Marks lie in partitions of a UTC month (decisions 22.6): new ones are made so from now on, and the days that nobody
 * changes any more are copied into tables of their months, the oldest first. Can be run again where it broke off.
 *
 * While a month is copied its days can be read and not changed: a rollback of such marks waits, or fails and is asked
 * again. No mark is held up by that. Then the tables change places, which locks `marks` as a whole for some tenths of a
 * second. It tries for 0.2 s to get that lock, and again a second later, so a backup that is running holds up the
 * migration, and no mark for longer than that. Needs room for the largest month and its indexes.
 *
 * Processes of the version before find their way by days: `open_days` lists all from now on, and they cannot take one
 * off it, nor off `cleared_days`, because a month has no table of the day's name. A later release drops `open_days`.
 */
export async function up(knex: Knex): Promise<void> {
  const connection = (await knex.client.acquireConnection()) as Connection;
  // Longer than a month takes to copy, and than a backup.
  const run = (text: string) => connection.query({ text, query_timeout: 2 ** 31 - 1 });
  try {
    await run("set statement_timeout = 0; set lock_timeout = '60s'");
    await run(functions);
    // Of a drop that was broken off: Postgres detaches no other one before.
    const pending = await run(
      "select null as month, min(inhrelid::regclass::text) as copied from pg_inherits where inhdetachpending",
    );
    const { copied: left } = pending.rows[0]!;
    if (left !== null) await run(`alter table marks detach partition ${left} finalize`);
    for (;;) {
      const { rows } = await run(
        "select next_month_of_marks() as month, copied_days_of_marks() as copied",
      );
      const { month, copied } = rows[0]!;
      if (copied !== null) await run(`drop table ${copied}`);
      if (month === null) break;
      await run(`do $$ begin perform copy_month_of_marks('${month}'); end $$`);
      await run(`analyze ${month}`);
    }
    await run(
      "drop function next_month_of_marks, copied_days_of_marks, copy_month_of_marks, days_of_marks",
    );
  } finally {
    await run("reset statement_timeout; reset lock_timeout");
    await knex.client.releaseConnection(connection);
  }
}

interface Connection {
  query(query: {
    text: string;
    query_timeout: number;
  }): Promise<{ rows: Record<"month" | "copied", string | null>[] }>;
}

const functions = `
  -- The ids around the day that no partition has, up to the borders of its month; without a row when one has the day.
  -- Partitions in leaving do not count.
  create or replace function free_mark_ids(d date, leaving text[]) returns table (low bigint, high bigint)
  language sql as $$
    select greatest((date_trunc('month', d::timestamp)::date - date '1970-01-01')::bigint << 32, max(p.high) filter (where p.high <= n)),
      least(((date_trunc('month', d::timestamp) + interval '1 month')::date - date '1970-01-01')::bigint << 32, min(p.low) filter (where p.low > n))
    from (select (d - date '1970-01-01')::bigint << 32 as n) day left join (
      select bounds[1]::bigint as low, bounds[2]::bigint as high from pg_inherits join pg_class c on c.oid = inhrelid,
        regexp_match(pg_get_expr(c.relpartbound, c.oid), '(\\d+).*?(\\d+)') bounds
      where inhparent = 'marks'::regclass and c.relname <> all (leaving)) p on true
    group by n having not coalesce(bool_or(p.low <= n and n < p.high), false)
  $$;

  create or replace function ensure_mark_partitions(first_day date, days integer) returns integer language plpgsql as $$
  declare
    made integer := 0;
    d date;
    n bigint;
    free record;
    part text;
  begin
    perform pg_advisory_xact_lock(7166734);
    for i in 0 .. days - 1 loop
      d := first_day + i;
      select * into free from free_mark_ids(d, '{}');
      continue when not found;
      part := 'marks_' || to_char(d, 'YYYYMM');
      if to_regclass(part) is not null then
        -- A day between tables of its month.
        n := (d - date '1970-01-01')::bigint << 32;
        part := 'marks_' || to_char(d, 'YYYYMMDD');
        free.low := n;
        free.high := n + (1::bigint << 32);
        continue when to_regclass(part) is not null;
      end if;
      execute format('create table %I (like marks including all)', part);
      execute format('alter table %I add constraint %I check (id >= %s and id < %s)', part, part || '_range', free.low, free.high);
      execute format('alter table marks attach partition %I for values from (%s) to (%s)', part, free.low, free.high);
      insert into open_days
        select date '1970-01-01' + day::int from generate_series(free.low >> 32, (free.high >> 32) - 1) day on conflict do nothing;
      made := made + 1;
    end loop;
    return made;
  end
  $$;

  insert into open_days
    select day::date from (select to_date(min(right(c.relname, 8)), 'YYYYMMDD') as first,
      to_date(max(right(c.relname, 8)), 'YYYYMMDD') as last from pg_inherits join pg_class c on c.oid = inhrelid
      where inhparent = 'marks'::regclass and c.relname ~ '^marks_[0-9]{8}$') t,
      generate_series(t.first, t.last, interval '1 day') day on conflict do nothing;
  create or replace rule keep_listed as on delete to open_days do instead nothing;
  create or replace rule keep_listed as on delete to cleared_days do instead nothing;

  -- The tables of the days of a month that nobody changes any more, all of them in a country without marks.
  create or replace function days_of_marks(month text) returns setof text language sql as $$
    select c.relname::text from pg_inherits join pg_class c on c.oid = inhrelid
    where inhparent = 'marks'::regclass and not inhdetachpending and c.relname ~ ('^' || month || '[0-9]{2}$')
      and (right(c.relname, 8) < to_char((server_now() at time zone 'UTC')::date - ${quietDays}, 'YYYYMMDD')
        or not exists (select from marks))
    order by 1
  $$;

  create or replace function next_month_of_marks() returns text language sql as $$
    select min(month) from (select distinct left(c.relname, 12) as month from pg_class c
      where c.relname ~ '^marks_[0-9]{8}$') m
    where to_regclass(month) is null and exists (select from days_of_marks(month))
  $$;

  -- What is left of days whose month is in its place.
  create or replace function copied_days_of_marks() returns text language sql as $$
    select string_agg(c.relname, ', ') from pg_class c
    where c.relname ~ '^marks_[0-9]{8}$' and not exists (select from pg_inherits where inhrelid = c.oid)
      and exists (select from pg_constraint where conrelid = c.oid and conname = c.relname || '_range')
      and exists (select from pg_inherits where inhparent = 'marks'::regclass and inhrelid = to_regclass(left(c.relname, 12)))
  $$;

  create or replace function copy_month_of_marks(month text) returns void language plpgsql as $$
  declare
    days text[];
    day text;
    free record;
  begin
    -- As upkeep does while it drops tables of days.
    perform pg_advisory_xact_lock(7166740);
    days := array(select days_of_marks(month));
    -- Postgres may have finished it for a release that was killed.
    if days = '{}' then
      return;
    end if;
    select * into free from free_mark_ids(to_date(right(days[1], 8), 'YYYYMMDD'), days);
    execute 'lock table ' || array_to_string(days, ', ') || ' in share mode';
    execute format('create table %I (like marks including all)', month);
    execute format('alter table %I add constraint %I check (id >= %s and id < %s)', month, month || '_range', free.low, free.high);
    foreach day in array days loop
      execute format('insert into %I select * from %I order by id', month, day);
    end loop;
    for try in 1 .. ${triesAtMost} loop
      begin
        perform set_config('lock_timeout', '200ms', true);
        perform pg_advisory_xact_lock(7166734);
        lock table only marks in access exclusive mode;
        foreach day in array days loop
          execute format('alter table marks detach partition %I', day);
        end loop;
        execute format('alter table marks attach partition %I for values from (%s) to (%s)', month, free.low, free.high);
        return;
      exception when lock_not_available then
        perform pg_sleep(1);
      end;
    end loop;
    raise exception 'marks was in use by a long transaction for an hour: end it (pg_stat_activity), then start the release again';
  end
  $$;
`;

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
