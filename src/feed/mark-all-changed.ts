import { inTransaction, rows, type Db } from "#src/infrastructure/db.ts";
import { sequenceMax } from "#src/marks/marks.ts";

const atOnce = 1000;
/** More than any service gives out between two backups. */
const changesAhead = 1_000_000_000;
const marksAhead = 100_000_000;

export interface Restamped {
  stations: number;
  /** The change feed's highest number now. */
  seq: number;
}

/**
 * Makes a database that was restored from a backup the newest again. Numbers that the lost time had given out do not
 * come a second time, and every station counts as changed now: processes, caches and partners' copies that know more
 * than the backup take its word. May run while everything runs, and again.
 */
export async function markAllChanged(
  db: Db,
  progress: (done: number, total: number) => void,
): Promise<Restamped> {
  await rows(
    db,
    `select setval('change_seq', nextval('change_seq') + ?),
       setval('mark_seq', (nextval('mark_seq') + ?) % ${sequenceMax} + 1)`,
    [changesAhead, marksAhead],
  );
  const all = await rows<{ id: string; removed: boolean }>(
    db,
    "select station_id as id, removed from changes order by station_id",
  );
  let seq = 0;
  for (let from = 0; from < all.length; from += atOnce) {
    const some = all.slice(from, from + atOnce);
    // A short transaction each: nobody else's commit gets a number meanwhile.
    seq = await inTransaction(db, async (tx) => {
      const stamp = (gone: boolean) =>
        rows<{ seq: number | null }>(tx, "select feed_stamp(?::text[], ?::boolean) as seq", [
          some.filter(({ removed }) => removed === gone).map(({ id }) => id),
          gone,
        ]);
      const [[removed], [served]] = [await stamp(true), await stamp(false)];
      return served?.seq ?? removed?.seq ?? seq;
    });
    progress(from + some.length, all.length);
  }
  return { stations: all.length, seq };
}
