import type { Knex } from "knex";
import { rows } from "#src/infrastructure/db.ts";
import { slices } from "#src/infrastructure/lists.ts";
import { readableHours } from "#src/stations/opening-hours.ts";

/** Many stations may change, and their stamp holds up every mark until its commit: so 1,000 a transaction. */
export const config = { transaction: false };
const atOnce = 1000;

/**
 * Takes away the hours that earlier versions have stored, though nobody can read them for certain (decisions 14.48): a
 * file that stays the same is not imported again. Locks rows of `stations` only, for less than a second; reads each
 * different text once, 0.6 ms. Can be run again where it broke off. An import of the previous version may store such
 * texts once more; the next one of that source takes them away.
 */
export async function up(knex: Knex): Promise<void> {
  const texts = await rows<{ text: string | null }>(
    knex,
    `select opening_hours as text from stations union select file_opening_hours from station_edits
     union select fields #>> '{opening_hours,file}' from station_own`,
  );
  const unread = texts.flatMap(({ text }) => (text && readableHours(text) === "" ? text : []));
  if (unread.length === 0) return;
  const sql = "select id from stations where opening_hours = any(?::text[]) order by id";
  const stations = await rows<{ id: string }>(knex, sql, [unread]);
  for (const some of slices(stations, atOnce))
    await knex.transaction(async (tx) => {
      const emptied = await rows<{ id: string; serves: boolean }>(
        tx,
        `update stations set opening_hours = '', updated_at = server_now()
         where id = any(?::text[]) and opening_hours = any(?::text[]) returning id, removed_at is null as serves`,
        [some.map(({ id }) => id), unread],
      );
      const served = emptied.filter(({ serves }) => serves).map(({ id }) => id);
      await rows(tx, "select feed_stamp(?::text[])", [served]);
    });
  await rows(
    knex,
    "update station_edits set file_opening_hours = '' where file_opening_hours = any(?::text[])",
    [unread],
  );
  await rows(
    knex,
    `update station_own set fields = jsonb_set(fields, '{opening_hours,file}', '""')
     where fields #>> '{opening_hours,file}' = any(?::text[])`,
    [unread],
  );
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
