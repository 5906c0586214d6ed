import type { Knex } from "knex";

/**
 * For signing in to the console: failures are counted in the operator's log, one entry for each account, network and
 * hour (decisions 13.12), and an account may have TOTP (13.13). The index is empty, because no entry is of that
 * action yet; the log is read once and cannot be written meanwhile: milliseconds, as it has one entry for each act of an
 * operator. Columns without a default rewrite nothing.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create unique index operator_log_failed_sign_ins
      on operator_log (subject, (details ->> 'hour'), (details ->> 'network'))
      where action = 'console.sign-in-failed';
    alter table operators
      -- Encrypted with a key that follows from REPORTER_PEPPER; null: no TOTP.
      add column totp_secret bytea,
      -- The time step of the last code that was used: no code opens twice.
      add column totp_step bigint;
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
