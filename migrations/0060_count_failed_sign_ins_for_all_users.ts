import type { Knex } from "knex";

/**
 * Counts a failed sign-in in the operator's log with the owner's rights: a user of few rights (`operator database grant`)
 * may add to the log and change nothing in it, and Postgres demands the right to update of each upsert
 * (decisions 13.12).
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create function count_failed_sign_in(account text, hour text, network text) returns void
    language sql security definer set search_path = public, pg_temp
    begin atomic
      insert into operator_log (actor, action, subject, details)
      values ('console', 'console.sign-in-failed', account,
        jsonb_build_object('hour', hour, 'network', network, 'count', 1))
      on conflict (subject, (details ->> 'hour'), (details ->> 'network'))
        where action = 'console.sign-in-failed'
      do update set details = jsonb_set(
        operator_log.details, '{count}', to_jsonb((operator_log.details ->> 'count')::int + 1));
    end;
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
