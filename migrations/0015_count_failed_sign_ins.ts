import type { Knex } from "knex";

/**
 * Failed sign-ins to the console are counted in the operator's log: one entry for each account, network and hour
 * (docs/decisions.md 13.12). The index is empty at first, because no entry is of that action yet; the log is read once
 * and cannot be written for that time: milliseconds, as it has one entry for each act of an operator.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create unique index operator_log_failed_sign_ins
      on operator_log (subject, (details ->> 'hour'), (details ->> 'network'))
      where action = 'console.sign-in-failed';
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
