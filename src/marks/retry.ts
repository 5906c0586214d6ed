import { isRefusal, type Refusal } from "#src/contract/refusals.ts";
import { type Db, rows } from "#src/infrastructure/db.ts";
import { idsBetween } from "#src/marks/marks.ts";
import { act, nothing, operatorAct, unknown } from "#src/operators/act.ts";
import { longId } from "#src/operators/inputs.ts";

/** Asks for a failed mark to be processed again. */
export const retryMark = operatorAct(nothing, longId, async (tx, _, id) => {
  const [value] = await rows<{ stationId: string }>(
    tx,
    `update marks set failed_at = null, failure = null
       where id = ? and processed_at is null and failed_at is not null returning station_id as "stationId"`,
    [id],
  );
  if (value === undefined) return unknown("failed mark", id);
  const { stationId: station } = value;
  const entry = { action: "mark.retry", subject: `mark ${id}`, details: { station } };
  return { value, ...entry, touched: [station] };
});

const marksAtOnce = 500;

/**
 * Asks for all marks that have failed by now to be processed again, 500 in a transaction, each with its entry in the
 * operator's log. After an interruption the same call does the rest. `done` is called after each commit with the
 * stations for the marks workers.
 */
export async function retryAllMarks(
  db: Db,
  actor: string,
  done: (stationIds: string[], count: number, total: number) => void,
): Promise<{ marks: number; stations: number } | Refusal> {
  // The list is made at the beginning, so that a mark which fails again meanwhile is not retried for ever.
  const failedSql =
    "select id from marks where processed_at is null and failed_at is not null order by id";
  const failed = await rows<{ id: number }>(db, failedSql);
  const stations = new Set<string>();
  let marks = 0;
  for (let from = 0; from < failed.length; from += marksAtOnce) {
    const ids = failed.slice(from, from + marksAtOnce).map(({ id }) => id);
    const retried = await act(db, actor, async (tx) => {
      const found = await rows<{ stationId: string }>(
        tx,
        `update marks set failed_at = null, failure = null
         where id = any(?::bigint[]) and ${idsBetween(ids)} and processed_at is null and failed_at is not null
         returning station_id as "stationId"`,
        [ids],
      );
      const details = { marks: found.length, first: ids[0]!, last: ids.at(-1)! };
      return { value: found, action: "mark.retry", subject: `${found.length} marks`, details };
    });
    if (isRefusal(retried)) return retried;
    const stationIds = [...new Set(retried.map(({ stationId }) => stationId))];
    for (const stationId of stationIds) stations.add(stationId);
    marks += retried.length;
    done(stationIds, from + ids.length, failed.length);
  }
  return { marks, stations: stations.size };
}
