import type { Knex } from "knex";

/**
 * Usage in more detail, for the partners' dashboard (decisions 12.10, 12.12): errors by their code, and requests by
 * hour and duration. Two new tables; nothing is locked. Processes of the previous version flush usage without these
 * details.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- counted: requests that usage_days has among its errors. refused: those that were not counted at all.
    -- marks: marks of batches that were refused while the batch was taken.
    create table usage_errors (
      partner_id integer not null references partners,
      day date not null,
      audience text not null check (audience in ('partner', 'widget')),
      method text not null,
      code text not null,
      counted bigint not null default 0,
      refused bigint not null default 0,
      marks bigint not null default 0,
      primary key (partner_id, day, audience, method, code)
    );

    -- bucket: the number of a span of durations, see src/limits/request-journal.ts.
    create table usage_hours (
      partner_id integer not null references partners,
      hour timestamptz not null,
      audience text not null check (audience in ('partner', 'widget')),
      bucket smallint not null,
      requests bigint not null default 0,
      errors bigint not null default 0,
      primary key (partner_id, hour, audience, bucket)
    );
    create index usage_hours_hour on usage_hours (hour);
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
