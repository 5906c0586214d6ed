import type { Grade } from "#src/domain/vocabulary.ts";
import { type Db, inTransaction, rows } from "#src/infrastructure/db.ts";
import type { Producer } from "#src/infrastructure/queues.ts";
import { msOf } from "#src/marks/marks.ts";

/** Devices that one look wakes. */
export const wokenAtOnce = 200;
/** Matches of one notification: the nearest is named, the others are counted. */
const matchesMax = 100;

/** SQL for a device `d` that may be told now. */
const mayBeTold = "d.next_at <= server_now() and d.claimed_until <= server_now()";
const waits = `exists (select from fuel_alerts a join fuel_alert_matches m on m.alert_id = a.id
  where a.device_id = d.id and a.expires_at > server_now())`;

/** Wakes the workers for every device that something waits for. Gives how many those were. */
export async function wakeDevices(
  db: Db,
  producer: Pick<Producer, "wakeDevices">,
): Promise<number> {
  const due = await rows<{ id: number }>(
    db,
    `select d.id from push_devices d where ${mayBeTold} and ${waits} order by d.tried_at limit ${wokenAtOnce}`,
  );
  await producer.wakeDevices(due.map(({ id }) => id));
  return due.length;
}

/** For `/metrics`: alerts in force, and devices that something waits for. */
export interface AlertCounts {
  alerts: number;
  waiting: number;
}

export async function countAlerts(db: Db): Promise<AlertCounts> {
  const [counts] = await rows<AlertCounts>(
    db,
    `select (select count(*) from fuel_alerts where expires_at > server_now()) as alerts,
       (select count(*) from push_devices d where ${waits}) as waiting`,
  );
  return counts!;
}

/** A station that has got what a driver waits for. */
export interface Match {
  alertId: number;
  grade: Grade;
  stationId: string;
  /** The place of the alert. */
  lat: number;
  lon: number;
  /** When the station was found, ms. */
  at: number;
}

/** A device that is to be told, and of what. */
export interface AlertTurn {
  deviceId: number;
  /** Fences what is stored about the attempt. */
  claim: number;
  sealed: Buffer;
  lang: "ru" | "en";
  timeZone: string;
  sentDay: string | null;
  sentCount: number;
  /** Failures in a row before this attempt, and since when, ms. */
  failures: number;
  failingSince: number | null;
  matches: Match[];
}

/** Claims a device for `claimMs`; null when another process is at it, or when nothing waits. */
export const takeAlertTurn = (
  db: Db,
  deviceId: number,
  claimMs: number,
): Promise<AlertTurn | null> =>
  inTransaction(db, async (tx) => {
    const [device] = await rows<Omit<AlertTurn, "matches">>(
      tx,
      `update push_devices d set claims = claims % 1000000000000 + 1, tried_at = server_now(),
         claimed_until = server_now() + ?::int * interval '1 ms'
       where d.id = ? and ${mayBeTold} and ${waits}
       returning d.id as "deviceId", d.claims as claim, d.sealed, d.lang, d.time_zone as "timeZone",
         d.sent_day as "sentDay", d.sent_count as "sentCount", d.failures,
         ${msOf("d.failing_since")} as "failingSince"`,
      [claimMs, deviceId],
    );
    if (device === undefined) return null;
    const matches = await rows<Match>(
      tx,
      `select a.id as "alertId", a.grade, m.station_id as "stationId", a.lat, a.lon, ${msOf("m.at")} as at
       from fuel_alerts a join fuel_alert_matches m on m.alert_id = a.id
       where a.device_id = ? and a.expires_at > server_now() order by m.at, m.station_id limit ${matchesMax}`,
      [deviceId],
    );
    return { ...device, matches };
  });

/** How a device goes on after a turn. */
export type AlertVerdict =
  /** Told: counted for its day, and left alone for a while. */
  | { told: { day: string; pauseMs: number } }
  /** None of it is true any more. */
  | "outdated"
  /** Not now: at night, or enough for today. */
  | { waitMs: number }
  /** Not taken: once more after the pause. */
  | { failedMs: number }
  /** The browser takes no more, or has not for a day: forgotten with everything it waits for. */
  | "gone";

/** Stores what has become of a turn. False when the claim was over and another process has the device. */
export const settleAlertTurn = (
  db: Db,
  { deviceId, claim, matches }: AlertTurn,
  verdict: AlertVerdict,
): Promise<boolean> =>
  inTransaction(db, async (tx) => {
    const fenced = await rows<{ endpoint_hash: Buffer }>(
      tx,
      `update push_devices set claimed_until = '-infinity' where id = ? and claims = ? returning endpoint_hash`,
      [deviceId, claim],
    );
    if (fenced.length === 0) return false;
    if (verdict === "gone") {
      // The same browser under an older device id is gone as well.
      const sql = "delete from push_devices where endpoint_hash = ?";
      await rows(tx, sql, [fenced[0]!.endpoint_hash]);
      return true;
    }
    if (verdict === "outdated" || "told" in verdict)
      await rows(
        tx,
        `delete from fuel_alert_matches m using unnest(?::bigint[], ?::text[]) as told(alert, station)
         where m.alert_id = told.alert and m.station_id = told.station`,
        [matches.map(({ alertId }) => alertId), matches.map(({ stationId }) => stationId)],
      );
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
