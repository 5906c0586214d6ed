import { setTimeout as sleep } from "node:timers/promises";
import { rows, type Db } from "#src/infrastructure/db.ts";
import { lockIds } from "#src/infrastructure/locks.ts";

/**
 * Runs `work` while no other process works on the same `subject` ("stations of osm"). Waits for it, having called
 * `onWait` once. The lock goes with its connection when this process dies; it needs one connection beside `work`'s.
 */
export const withSourceLock = <T>(
  db: Db,
  subject: string,
  onWait: () => void,
  work: () => Promise<T>,
): Promise<T> =>
  db.transaction(async (tx) => {
    // This session idles while `work` runs on others: the limit meant for frozen processes must not end it.
    await tx.raw("set local idle_in_transaction_session_timeout = 0");
    const attempt = async (): Promise<boolean> => {
      const sql = "select pg_try_advisory_xact_lock(?, hashtext(?)) as got";
      return (
        (await rows<{ got: boolean }>(tx, sql, [lockIds.importSource, subject]))[0]?.got === true
      );
    };
    if (!(await attempt())) {
      onWait();
      while (!(await attempt())) await sleep(200);
    }
    return work();
  });
