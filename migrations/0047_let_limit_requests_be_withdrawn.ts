import type { Knex } from "knex";

/**
 * A limit request may be `withdrawn` by its partner (decisions 12.15). `limit_requests`, which has few rows, is locked
 * while they are checked. Processes of the previous version show such a request as it is.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table limit_requests
      drop constraint limit_requests_status_check,
      add check (status in ('pending', 'approved', 'rejected', 'withdrawn'));
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
