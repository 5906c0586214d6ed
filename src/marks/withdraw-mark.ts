import { databaseNow } from "#src/infrastructure/clock.ts";
import { isRefusal, type Refusal } from "#src/contract/refusals.ts";
import { markToWithdraw, type OwnMark } from "#src/domain/withdraw-mark.ts";
import { dayMs } from "#src/domain/units.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { type Db, inTransaction, rows, type Tx } from "#src/infrastructure/db.ts";
import { askRefold, type ChangedEvent, lockStations } from "#src/infrastructure/locks.ts";
import { firstIdOfDay, idAfter, msOf } from "#src/marks/marks.ts";

/**
 * Takes the newest own mark of a driver's device on that station back (decisions 15.35): it is withdrawn, as by a
 * rollback of one mark, and the station waits to be folded anew. A mark that no worker has processed yet never will be.
 * Gives the mark before the change, or the refusal. `reporter`: the device's hash, hex.
 */
export const withdrawMark = (
  db: Db,
  config: Pick<Config, "cooldownMs">,
  reporter: string,
  stationId: string,
): Promise<OwnMark | Refusal> =>
  inTransaction(db, async (tx) => {
    // The lock of the station covers its marks: no worker and no operator writes to them meanwhile.
    await lockStations(tx, [stationId], "wait");
    const now = await databaseNow(tx);
    const marks = await ownMarks(tx, reporter, stationId, now - config.cooldownMs - dayMs, now);
    const found = markToWithdraw(marks, now, config);
    if (isRefusal(found)) return found;
    const changed = await rows<ChangedEvent>(
      tx,
      `update marks set review = 'withdrawn', taken_back_at = server_now(), failed_at = null,
         processed_at = coalesce(processed_at, server_now())
       where id = ? and id >= ${firstIdOfDay(now - dayMs)} and id < ${idAfter(now)}
       returning station_id, ${msOf("effective_at")} as at`,
      [found.id],
    );
    await askRefold(tx, changed);
    return found;
  });

const ownMarks = (
  tx: Tx,
  reporter: string,
  stationId: string,
  since: number,
  now: number,
): Promise<OwnMark[]> =>
  rows<OwnMark>(
    tx,
    `select m.id, review, ${msOf("received_at")} as "receivedAt", ${msOf("taken_back_at")} as "takenBackAt"
     from reporters r join marks m on m.reporter_id = r.id
     where r.hash = decode(?, 'hex') and m.station_id = ? and m.review <> 'expired'
       and m.id >= ${firstIdOfDay(since)} and m.id < ${idAfter(now)}`,
    [reporter, stationId],
  );
