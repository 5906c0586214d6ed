import { raiseAlarms } from "#src/alarms/raise.ts";
import { formatTime } from "#src/domain/time.ts";
import { hourMs } from "#src/domain/units.ts";
import { type Db, inTransaction, rows } from "#src/infrastructure/db.ts";

const action = "console.sign-in-failed";
/** Further networks of an account and hour are counted together, so that strangers cannot fill the log. */
const networksKept = 20;
/** Failures in an hour at one account that raise an alarm. */
const manyFailures = 20;

/**
 * Counts a failed sign-in in the operator's log: an entry for each account, network and UTC hour (decisions 13.12).
 * Names without an account count as one. Raises the alarm when there are many.
 *
 * @param failure `network` is its hash, `at` in ms
 */
export const noteFailedSignIn = (
  db: Db,
  failure: { account: { id: number; name: string } | null; network: string; at: number },
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const { account, at } = failure;
    const subject = account === null ? "unknown account" : `account ${account.name}`;
    const hour = formatTime(Math.floor(at / hourMs) * hourMs);
    // Enough of the hash to tell networks apart.
    const network = failure.network.slice(0, 8);
    const ofHour = `from operator_log
      where action = '${action}' and subject = ? and details ->> 'hour' = ?`;
    const sql = `select count(*), coalesce(bool_or(details ->> 'network' = ?), false) as here ${ofHour}`;
    const [known] = await rows<{ count: number; here: boolean }>(tx, sql, [network, subject, hour]);
    const counted = known!.here || known!.count < networksKept ? network : "others";
    const insertSql = `insert into operator_log (actor, action, subject, details)
       values ('console', '${action}', ?, ?::jsonb)
       on conflict (subject, (details ->> 'hour'), (details ->> 'network')) where action = '${action}'
       do update set details = jsonb_set(
         operator_log.details, '{count}', to_jsonb((operator_log.details ->> 'count')::int + 1))`;
    await rows(tx, insertSql, [subject, JSON.stringify({ hour, network: counted, count: 1 })]);
    const sumSql = `select sum((details ->> 'count')::int)::int as failures ${ofHour}`;
    const [sum] = await rows<{ failures: number }>(tx, sumSql, [subject, hour]);
    const { failures } = sum!;
    if (failures < manyFailures) return;
    const about =
      account === null
        ? ({ code: "accounts-unknown" } as const)
        : ({ code: "account", account: account.id } as const);
    await raiseAlarms(tx, [{ kind: "sign-ins-failed", subject: about, at, details: { failures } }]);
  });
