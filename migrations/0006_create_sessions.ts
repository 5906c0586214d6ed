import type { Knex } from "knex";

/**
 * Sessions of the pages: of partners in the dashboard (subject: the key they signed in with) and of operators in the
 * console. The browser holds the token, the table its hash. Nothing is locked: the table is new.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table sessions (
      id bigint generated always as identity primary key,
      kind text not null check (kind in ('key', 'operator')),
      subject_id integer not null,
      hash bytea not null unique,
      created_at timestamptz not null,
      expires_at timestamptz not null,
      last_seen_at timestamptz not null,
      address text not null,
      agent text not null,
      ended_at timestamptz
    );
    create index sessions_subject on sessions (kind, subject_id);
    create index sessions_expiry on sessions (expires_at);
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
