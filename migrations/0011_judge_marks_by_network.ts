import type { Knex } from "knex";

/**
 * What the rules against many devices of one network need: whether a viewer's network is one that many people share (a
 * carrier's), stored with the mark, and the rule `caution`. A column with a constant default writes no row; the check is
 * dropped on each partition, too, which has its own copy, and comes back without a look at the rows. Each statement holds
 * its table for milliseconds. Processes of the version before go on: the column fills itself, and they know no `caution`.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table marks add column shared_network boolean not null default false;
    alter table marks drop constraint marks_rule_check;
    do $$
    declare part regclass;
    begin
      for part in select inhrelid::regclass from pg_inherits where inhparent = 'marks'::regclass loop
        execute format('alter table %s drop constraint if exists marks_rule_check', part);
      end loop;
    end
    $$;
    alter table marks add constraint marks_rule_check
      check (rule in ('key-threshold', 'remote', 'no-nearby-marks', 'caution', 'geolocated')) not valid;
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
