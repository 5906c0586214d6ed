import type { Grade } from "#src/domain/vocabulary.ts";
import { type Db, inTransaction, rows } from "#src/infrastructure/db.ts";
import type { Producer } from "#src/infrastructure/queues.ts";
import { msOf } from "#src/marks/marks.ts";
import type { Wanted } from "#src/pushes/alerts/matches.ts";
import { failuresOf } from "#src/pushes/failures.ts";

/** Devices that one look wakes. */
export const wokenAtOnce = 200;
/** Most matches of one notification: the nearest is named, the others are counted. */
const matchesMax = 100;

/** SQL for a device `d` that may be told now. */
const mayBeTold = "d.next_at <= server_now() and d.claimed_until <= server_now()";
const waits = `exists (select from fuel_alerts a join fuel_alert_matches m on m.alert_id = a.id
  where a.device_id = d.id and a.expires_at > server_now())`;

/** Wakes the workers for every device with waiting matches. Gives the number of these devices. */
export async function wakeDevices(
  db: Db,
  producer: Pick<Producer, "wakeDevices">,
): Promise<number> {
  const sql = `select d.id from push_devices d where ${mayBeTold} and ${waits} order by d.failures > 0, d.tried_at limit ${wokenAtOnce}`;
  const due = await rows<{ id: number }>(db, sql);
  await producer.wakeDevices(due.map(({ id }) => id));
  return due.length;
}

/** For `/metrics`: alerts in force, and devices with waiting matches. */
export interface AlertCounts {
  alerts: number;
  waiting: number;
}

export async function countAlerts(db: Db): Promise<AlertCounts> {
  const sql = `select (select count(*) from fuel_alerts where expires_at > server_now()) as alerts,
       (select count(*) from push_devices d where ${waits}) as waiting`;
  const [counts] = await rows<AlertCounts>(db, sql);
  return counts!;
}

/** A station that has got the grade of an alert. */
export interface Match {
  alertId: number;
  grade: Grade;
  wanted: Wanted;
  stationId: string;
  /** The place of the alert. */
  lat: number;
  lon: number;
  /** Time of the match, ms. */
  at: number;
}

/** A device to be told, with its matches. */
export interface ClaimedDevice {
  deviceId: number;
  /** Fences the writes about the attempt. */
  claim: number;
  sealed: Buffer;
  lang: "ru" | "en";
  timeZone: string;
  sentDay: string | null;
  sentCount: number;
  /** Failures in a row before this attempt, and the time of the first, ms. */
  failures: number;
  failingSince: number | null;
  matches: Match[];
}

/** Claims a device for `claimMs`; null when another process has it, nothing waits, or its last attempt failed and none that `mayFail` is wanted. */
export const claimDevice = (
  db: Db,
  deviceId: number,
  claimMs: number,
  mayFail = true,
): Promise<ClaimedDevice | null> =>
  inTransaction(db, async (tx) => {
    const sql = `update push_devices d set claims = claims % 1000000000000 + 1, tried_at = server_now(),
         claimed_until = server_now() + ?::int * interval '1 ms',
         ${failuresOf("d")}
       where d.id = ? and (d.failures = 0 or ?::bool) and ${mayBeTold} and ${waits}
       returning d.id as "deviceId", d.claims as claim, d.sealed, d.lang, d.time_zone as "timeZone",
         d.sent_day as "sentDay", d.sent_count as "sentCount", d.failures,
         ${msOf("d.failing_since")} as "failingSince"`;
    const values = [claimMs, deviceId, mayFail];
    const [device] = await rows<Omit<ClaimedDevice, "matches">>(tx, sql, values);
    if (device === undefined) return null;
    const matchesSql = `select a.id as "alertId", split_part(a.grade, ' ', 1) as grade, a.grade as wanted, m.station_id as "stationId", a.lat, a.lon, ${msOf("m.at")} as at
       from fuel_alerts a join fuel_alert_matches m on m.alert_id = a.id
       where a.device_id = ? and a.expires_at > server_now() order by m.at, m.station_id limit ${matchesMax}`;
    const matches = await rows<Match>(tx, matchesSql, [deviceId]);
    return { ...device, matches };
  });

/** The result of an attempt for its device. */
export type AlertVerdict =
  /** Told of a grade: counted for its day, and followed by a pause. */
  | { told: { day: string; pauseMs: number; grade: Grade } }
  /** No match is true any more. */
  | "outdated"
  /** Later: at night, or after the most notifications of a day. */
  | { waitMs: number }
  /** Not taken: tried again after the pause. */
  | { failedMs: number }
  /** The browser takes no more, or has not for a day: forgotten with its alerts. */
  | "gone";

/** Stores the result of an attempt. False when the claim was over and another process has the device. */
export const settleDevice = (
  db: Db,
  { deviceId, claim, matches }: ClaimedDevice,
  verdict: AlertVerdict,
): Promise<boolean> =>
  inTransaction(db, async (tx) => {
    const sql = `update push_devices set claimed_until = '-infinity' where id = ? and claims = ? returning endpoint_hash`;
    const fenced = await rows<{ endpoint_hash: Buffer }>(tx, sql, [deviceId, claim]);
    if (fenced.length === 0) return false;
    if (verdict === "gone") {
      // The same browser under an older device id is gone too.
      const sql = "delete from push_devices where endpoint_hash = ?";
      await rows(tx, sql, [fenced[0]!.endpoint_hash]);
      return true;
    }
    if (verdict === "outdated" || "told" in verdict) {
      // Other grades that the browser waits for have their own notification.
      const done =
        verdict === "outdated"
          ? matches
          : matches.filter(({ grade }) => grade === verdict.told.grade);
      await rows(
        tx,
        `delete from fuel_alert_matches m using unnest(?::bigint[], ?::text[]) as told(alert, station)
         where m.alert_id = told.alert and m.station_id = told.station`,
        [done.map(({ alertId }) => alertId), done.map(({ stationId }) => stationId)],
      );
    }
    if (verdict === "outdated") return true;
    if ("told" in verdict)
      await rows(
        tx,
        `update push_devices set failures = 0, failing_since = null, sent_at = server_now(), sent_day = ?::date,
           sent_count = case when sent_day = ?::date then sent_count else 0 end + 1,
           next_at = server_now() + ?::bigint * interval '1 ms' where id = ?`,
        [verdict.told.day, verdict.told.day, verdict.told.pauseMs, deviceId],
      );
    else if ("waitMs" in verdict) await pause(verdict.waitMs, "");
    else
      await pause(
        verdict.failedMs,
        ", failures = least(failures, 1000000) + 1, failing_since = coalesce(failing_since, server_now())",
      );
    return true;

    async function pause(ms: number, also: string): Promise<void> {
      const sql = `update push_devices set next_at = server_now() + ?::bigint * interval '1 ms'${also} where id = ?`;
      await rows(tx, sql, [ms, deviceId]);
    }
  });
