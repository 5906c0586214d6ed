import type { Knex } from "knex";

/**
 * What a partner's limits were before its request was approved, and what they were then, so that the approval can be
 * taken back as long as nothing else has changed them (decisions 13.21). Columns without a default:
 * `limit_requests` is locked for milliseconds. An approval by the previous version leaves them null and cannot be taken
 * back.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table limit_requests
      add column rpm_before integer, add column daily_before integer,
      add column rpm_given integer, add column daily_given integer;
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
