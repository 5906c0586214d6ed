import type { Knex } from "knex";

/**
 * From when on a station is folded anew (decisions 16.25): older days need not be read. Without it all that is
 * kept is. Processes of the previous version ask for a refold and end one with `refold` alone: the trigger forgets
 * a time that says nothing of what they asked.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table station_status add column refold_from timestamptz;
    create function forget_refold_from() returns trigger language plpgsql as $$
    begin
      new.refold_from := null;
      return new;
    end $$;
    create trigger forget_refold_from before update of refold on station_status for each row
      when (new.refold_from is not null
        and (not new.refold or old.refold and new.refold_from = old.refold_from))
      execute function forget_refold_from();
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
