import type { Knex } from "knex";

/**
 * What `/status` remembers: in how many minutes of a day each feed was well, and incidents in the operator's words
 * (decisions 16.33, 16.34). New tables; nothing is locked. Web processes of the previous version do not say that
 * they are well: as long as only they run, no minute is counted.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table service_days (
      day date not null,
      feed text not null,
      -- Minutes of the day, 0 to 1439: when the first look was, and which was last counted as well.
      first_minute int not null,
      last_well int,
      well int not null,
      primary key (day, feed)
    );
    create table incidents (
      id int generated always as identity primary key,
      title text not null,
      title_ru text,
      feeds text[] not null,
      opened_at timestamptz not null default server_now(),
      closed_at timestamptz
    );
    create table incident_updates (
      id int generated always as identity primary key,
      incident_id int not null references incidents on delete cascade,
      at timestamptz not null default server_now(),
      text text not null,
      text_ru text
    );
    create index incident_updates_incident on incident_updates (incident_id, id);
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
