import type { Knex } from "knex";

/**
 * Accounts of the operator's console: who signs in, by password or by key. An account is never deleted, so that
 * the operator's log keeps meaning somebody. Nothing is locked: the table is new.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table operators (
      id integer generated always as identity primary key,
      name text not null check (name <> ''),
      role text not null check (role in ('viewer', 'operator')),
      -- scrypt with its salt and parameters in the text; null: no password.
      password text,
      -- SHA-256 of an operator key's text; null: no key.
      key_hash bytea unique,
      key_prefix text,
      disabled_at timestamptz,
      last_sign_in_at timestamptz,
      created_at timestamptz not null default server_now(),
      updated_at timestamptz not null default server_now()
    );
    create unique index operators_name on operators (lower(name));
    -- The console's log page reads newest first and by actor, action and subject.
    create index operator_log_at on operator_log (at);
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
