import { inTransaction, rows, type Db } from "#src/infrastructure/db.ts";
import { slices } from "#src/infrastructure/lists.ts";
import { sequenceMax } from "#src/marks/marks.ts";

const atOnce = 1000;
/** More numbers than any service uses between two backups. */
const changesAhead = 1_000_000_000;
const marksAhead = 100_000_000;

/**
 * Makes a database that was restored from a backup the newest again. Numbers given out after the backup are not used
 * again, and every station counts as changed now, so that processes, caches and partners' copies that are newer than
 * the backup follow it. May run while everything runs, and again. Gives the change feed's highest number now.
 */
export async function markAllChanged(
  db: Db,
  progress: (done: number, total: number) => void,
): Promise<{ stations: number; seq: number }> {
  const sql = `select setval('change_seq', nextval('change_seq') + ?),
       setval('mark_seq', (nextval('mark_seq') + ?) % ${sequenceMax} + 1)`;
  await rows(db, sql, [changesAhead, marksAhead]);
  const allSql = "select station_id as id, removed from changes order by station_id";
  const all = await rows<{ id: string; removed: boolean }>(db, allSql);
  let seq = 0;
  let done = 0;
  for (const some of slices(all, atOnce)) {
    // Short transactions, because other commits wait for their number meanwhile.
    seq = await inTransaction(db, async (tx) => {
      const stamp = async (gone: boolean): Promise<number | null> => {
        const ids = some.filter(({ removed }) => removed === gone).map(({ id }) => id);
        const sql = "select feed_stamp(?::text[], ?::boolean) as seq";
        return (await rows<{ seq: number | null }>(tx, sql, [ids, gone]))[0]?.seq ?? null;
      };
      const removed = await stamp(true);
      return (await stamp(false)) ?? removed ?? seq;
    });
    progress((done += some.length), all.length);
  }
  return { stations: all.length, seq };
}
