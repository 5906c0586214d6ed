import type { Knex } from "knex";

/**
 * Vacuum comes earlier where rows change most, so that no operator need set it by hand; a table that has settings of an
 * operator's own keeps them. Waits for a vacuum of the table that runs, and for nothing else; reads and writes go on.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    do $$
    declare
      wanted record;
    begin
      for wanted in
        select * from (values
          ('station_status', 'autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000'),
          ('changes', 'autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000'),
          ('opinions', 'autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05'),
          ('mark_keys', 'autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02')
        ) as settings (name, options)
      loop
        if (select reloptions is null from pg_class where oid = wanted.name::regclass) then
          execute format('alter table %I set (%s)', wanted.name, wanted.options);
        end if;
      end loop;
    end $$;
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
