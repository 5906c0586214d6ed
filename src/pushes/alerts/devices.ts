import { createHmac } from "node:crypto";
import type { ShownAlert } from "#src/contract/shapes/alert-radii.ts";
import { dayMs } from "#src/domain/units.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { type Db, inTransaction, rows, type Statements } from "#src/infrastructure/db.ts";
import { seal, unseal } from "#src/infrastructure/seal.ts";
import { fromMs, msOf } from "#src/marks/marks.ts";
import type { Wanted } from "#src/pushes/alerts/matches.ts";
import { stopToken } from "#src/pushes/alerts/vapid.ts";

/** The address and keys for a browser's notifications, as `PushSubscription.toJSON()` gives them. */
export interface Subscription {
  endpoint: string;
  keys: { p256dh: string; auth: string };
}

/** An alert that a driver waits for. */
export type Alert = Omit<ShownAlert, "token" | "radius_km"> & { radius_m: number };

/** The device and network of a request: hashes in hex (`deviceReporter`, `viewerHash`). */
export interface Asker {
  reporter: string;
  viewer: string;
}

export interface AlertWish extends Pick<Alert, "grade" | "likely" | "lat" | "lon" | "radius_m"> {
  subscription: Subscription;
  lang: "ru" | "en";
  /** A name of the IANA list; empty when unknown. */
  timeZone: string;
}

const purpose = "push subscriptions";

export const endpointHash = (pepper: string, endpoint: string): Buffer =>
  createHmac("sha256", pepper).update("push endpoint\0").update(endpoint, "utf8").digest();

/** A device's subscription; null with another pepper. */
export function openSubscription(
  pepper: string,
  deviceId: number,
  sealed: Buffer,
): Subscription | null {
  const text = unseal(pepper, purpose, deviceId, sealed);
  return text === null ? null : (JSON.parse(text.toString()) as Subscription);
}

/**
 * Stores an alert, and the browser's current subscription. A repeated alert for the same grade at about the same place
 * only lasts longer. `full` when the device, or its network, has its most alerts.
 */
export const askAlert = (
  db: Db,
  config: Config,
  { reporter, viewer }: Asker,
  { subscription, lang, timeZone, grade, likely, lat, lon, radius_m }: AlertWish,
  now: number,
): Promise<"asked" | "full"> =>
  inTransaction(db, async (tx) => {
    const { reporterPepper: pepper, alertDays, alertsPerDevice, alertsPerNetwork } = config;
    const endpoint = endpointHash(pepper, subscription.endpoint);
    const wanted: Wanted = likely ? `${grade} likely` : grade;
    const [device] = await rows<{ id: number }>(
      tx,
      `insert into push_devices (reporter, viewer, endpoint_hash, lang, time_zone)
       values (decode(?, 'hex'), decode(?, 'hex'), ?, ?, ?)
       on conflict (reporter) do update set viewer = excluded.viewer, endpoint_hash = excluded.endpoint_hash,
         lang = excluded.lang, time_zone = excluded.time_zone, failures = 0, failing_since = null,
         next_at = case when push_devices.failures > 0 and push_devices.endpoint_hash <> excluded.endpoint_hash
           then '-infinity' else push_devices.next_at end
       returning id`,
      [reporter, viewer, endpoint, lang, timeZone],
    );
    const { id } = device!;
    const sealed = seal(pepper, purpose, id, Buffer.from(JSON.stringify(subscription)));
    await rows(tx, "update push_devices set sealed = ? where id = ?", [sealed, id]);
    // About the same place means within a tenth of the radius.
    const sql = `update fuel_alerts set expires_at = ${fromMs} where device_id = ? and grade = ? and radius_m = ?
         and abs(lat - ?) * 111000 < radius_m * 0.1 and abs(lon - ?) * 111000 * cos(radians(lat)) < radius_m * 0.1
         and expires_at > server_now() returning 1`;
    const same = await rows(tx, sql, [now + alertDays * dayMs, id, wanted, radius_m, lat, lon]);
    if (same.length > 0) return "asked";
    const waitingSql = `select count(*) filter (where d.id = ?) as own, count(*) as network
       from push_devices d join fuel_alerts a on a.device_id = d.id
       where d.viewer = decode(?, 'hex') and a.expires_at > server_now()`;
    const [waiting] = await rows<{ own: number; network: number }>(tx, waitingSql, [id, viewer]);
    if (waiting!.own >= alertsPerDevice || waiting!.network >= alertsPerNetwork) return "full";
    const insertSql = `insert into fuel_alerts (device_id, grade, lat, lon, radius_m, expires_at)
       values (?, ?, ?, ?, ?, ${fromMs})`;
    await rows(tx, insertSql, [id, wanted, lat, lon, radius_m, now + alertDays * dayMs]);
    return "asked";
  });

/** The alerts of a device, the oldest first. */
export const alertsOf = (db: Statements, reporter: string): Promise<Alert[]> =>
  rows<Alert>(
    db,
    `select a.id, split_part(a.grade, ' ', 1) as grade, a.grade like '% likely' as likely, a.lat, a.lon, a.radius_m, ${msOf("a.expires_at")} as expires
     from push_devices d join fuel_alerts a on a.device_id = d.id
     where d.reporter = decode(?, 'hex') and a.expires_at > server_now() order by a.id`,
    [reporter],
  );

/** Ends an alert, and forgets a device without more alerts. False when the token is another's. */
export async function stopAlert(
  db: Db,
  { reporterPepper }: Pick<Config, "reporterPepper">,
  id: number,
  token: string,
): Promise<boolean> {
  if (token !== stopToken(reporterPepper, id)) return false;
  const sql = "delete from fuel_alerts where id = ? returning device_id";
  const [ended] = await rows<{ device_id: number }>(db, sql, [id]);
  if (ended !== undefined) await forgetIdle(db, [ended.device_id]);
  return true;
}

/** Deletes expired alerts, and devices without alerts. Gives the number of these devices. */
export async function retireAlerts(db: Db): Promise<number> {
  await rows(db, "delete from fuel_alerts where expires_at < server_now()");
  const sql =
    "select id from push_devices d where not exists (select from fuel_alerts a where a.device_id = d.id) limit 5000";
  const idle = await rows<{ id: number }>(db, sql);
  return forgetIdle(
    db,
    idle.map(({ id }) => id),
  );
}

/** Deletes those of the devices that have no alert. The row is locked, and stays, if its driver is asking just now. */
const forgetIdle = (db: Db, ids: readonly number[]): Promise<number> =>
  inTransaction(db, async (tx) => {
    const sql = "select id from push_devices where id = any(?::bigint[]) for update skip locked";
    const held = await rows<{ id: number }>(tx, sql, [ids]);
    // A later statement, which sees alerts that were stored before the lock.
    const deleteSql = `delete from push_devices d where id = any(?::bigint[])
         and not exists (select from fuel_alerts a where a.device_id = d.id) returning 1`;
    const forgotten = await rows(tx, deleteSql, [held.map(({ id }) => id)]);
    return forgotten.length;
  });

/** Deletes all data for telling a person's device; `reporter` in hex. False when there was none. */
export async function forgetDevice(db: Statements, reporter: string): Promise<boolean> {
  const sql = "delete from push_devices where reporter = decode(?, 'hex') returning 1";
  return (await rows(db, sql, [reporter])).length > 0;
}
