import type { ShownWebhook } from "#src/contract/dashboard.ts";
import { type OffReason, offReasons, webhookEvents } from "#src/domain/vocabulary.ts";
import { givenOut } from "#src/feed/feed.ts";
import { type Db, inTransaction, rows, type Tx } from "#src/infrastructure/db.ts";
import { already, nothing, operatorAct, unknown } from "#src/operators/act.ts";
import { rowId } from "#src/operators/inputs.ts";
import {
  newWebhookSecret,
  openWebhookSecret,
  sealWebhookSecret,
} from "#src/pushes/webhooks/signature.ts";

/** A partner's webhook, without its secret, which is shown once. */
export interface Webhook extends Omit<
  ShownWebhook,
  "off" | "failing_since" | "old_secret_until" | "created"
> {
  partner_id: number;
  off_at: Date | null;
  failing_since: Date | null;
  /** The time until which two secrets sign. */
  old_secret_until: Date | null;
  created_at: Date;
}

const oneOf = (words: readonly string[]): string => words.map((word) => `'${word}'`).join();
/** Words that no version knows are left out: the API's document allows no others. */
const columns = `id, partner_id, url, description, off_at is null as enabled, off_at, failing_since,
  array(select event from unnest(events) event where event in (${oneOf(webhookEvents)})) as events,
  case when off_reason in (${oneOf(offReasons)}) then off_reason end as off_reason,
  (select count(*) from webhook_deliveries d where d.endpoint_id = e.id and d.delivered_at is null) as waiting,
  case when old_secret_until > server_now() then old_secret_until end as old_secret_until, created_at`;

/**
 * Forgets failures, so that a webhook is tried at once after a change or when it is switched on; also that of an attempt
 * which is under way, by ending its claim.
 */
const freshSql = `failures = 0, failing_since = null, next_at = '-infinity',
  claims = claims % 1000000000000 + 1, claimed_until = '-infinity'`;
/** Cursors at the current end: a webhook is told of later changes. */
const cursorsSql = `change_seq = coalesce((select max(seq) from ${givenOut("changes")}), 0),
  time_change_seq = coalesce((select max(seq) from ${givenOut("time_changes")}), 0)`;

/** Webhooks of one partner or of all, the oldest first. */
export const listWebhooks = (db: Db | Tx, partnerId: number | null = null): Promise<Webhook[]> =>
  rows<Webhook>(
    db,
    `select ${columns} from webhook_endpoints e where partner_id = coalesce(?::int, partner_id) order by id`,
    [partnerId],
  );

/** One webhook, of this partner or of any; null when there is none. */
export async function findWebhook(
  db: Db | Tx,
  id: number,
  partnerId: number | null = null,
): Promise<Webhook | null> {
  const sql = `select ${columns} from webhook_endpoints e where id = ? and partner_id = coalesce(?::int, partner_id)`;
  return (await rows<Webhook>(db, sql, [id, partnerId]))[0] ?? null;
}

/** The partner's choices. The URL was checked (`createReceivers`). */
export type WebhookWish = Pick<Webhook, "url" | "events" | "description">;

/** A new webhook, told of everything from now on, with its secret; null when the partner has `most` already. */
export const createWebhook = (
  db: Db,
  partnerId: number,
  { url, events, description }: WebhookWish,
  { most, pepper }: { most: number; pepper: string },
): Promise<{ webhook: Webhook; secret: string } | null> =>
  inTransaction(db, async (tx) => {
    // The lock makes a partner's calls run one after the other, so that the count holds.
    await rows(tx, "select from partners where id = ? for no key update", [partnerId]);
    if ((await listWebhooks(tx, partnerId)).length >= most) return null;
    const secret = newWebhookSecret();
    const [made] = await rows<{ id: number }>(
      tx,
      `insert into webhook_endpoints (partner_id, url, events, description, secret)
       values (?, ?, ?::text[], ?, ?) returning id`,
      [partnerId, url, events, description, sealWebhookSecret(pepper, partnerId, secret)],
    );
    await rows(tx, `update webhook_endpoints set ${cursorsSql} where id = ?`, [made!.id]);
    return { webhook: (await findWebhook(tx, made!.id))!, secret };
  });

/**
 * Changes a webhook; null when the partner has none of this id. A webhook that begins to get events of stations gets
 * changes from now on.
 */
export const changeWebhook = (
  db: Db,
  partnerId: number,
  id: number,
  { url, events, description, enabled }: Partial<WebhookWish> & { enabled?: boolean | undefined },
): Promise<Webhook | null> =>
  inTransaction(db, async (tx) => {
    const sql =
      "select events from webhook_endpoints where id = ? and partner_id = ? for no key update";
    const [before] = await rows<Pick<Webhook, "events">>(tx, sql, [id, partnerId]);
    if (before === undefined) return null;
    const begins =
      events?.includes("stations.changed") === true && !before.events.includes("stations.changed");
    const updateSql = `update webhook_endpoints set url = coalesce(?, url), events = coalesce(?::text[], events),
         description = coalesce(?, description), updated_at = server_now()
         ${begins ? `, ${cursorsSql}` : ""} ${url === undefined ? "" : `, ${freshSql}`} where id = ?`;
    await rows(tx, updateSql, [url ?? null, events ?? null, description ?? null, id]);
    if (enabled !== undefined) await switchWebhook(tx, id, enabled, "partner");
    return findWebhook(tx, id);
  });

/**
 * Switches a webhook on, or off for a reason; one that is off keeps its first reason, but the operator's counts more:
 * what the operator has switched off no partner switches on.
 */
async function switchWebhook(
  tx: Tx,
  id: number,
  enabled: boolean,
  reason: OffReason,
): Promise<boolean> {
  const changed = await rows(
    tx,
    enabled
      ? `update webhook_endpoints set off_at = null, off_reason = null, ${freshSql}, updated_at = server_now()
         where id = ? and off_at is not null ${reason === "operator" ? "" : "and off_reason <> 'operator'"} returning 1`
      : `update webhook_endpoints set off_at = coalesce(off_at, server_now()), off_reason = '${reason}',
           updated_at = server_now()
         where id = ? and ${reason === "operator" ? "off_reason is distinct from 'operator'" : "off_at is null"} returning 1`,
    [id],
  );
  if (enabled) await rows(tx, "select pg_notify('changes', '')");
  return changed.length > 0;
}

/** Removes a webhook with its deliveries; false when the partner has none of this id. */
export async function removeWebhook(db: Db, partnerId: number, id: number): Promise<boolean> {
  const sql = "delete from webhook_endpoints where id = ? and partner_id = ? returning 1";
  return (await rows(db, sql, [id, partnerId])).length > 0;
}

/**
 * A new secret. The previous one also signs for `overlapS` seconds; while it does, a further call gives the same new one
 * again, unless with 0 s (decisions 20.15). Null when the partner has no webhook of this id.
 */
export async function rotateWebhookSecret(
  db: Db,
  partnerId: number,
  id: number,
  { overlapS, pepper }: { overlapS: number; pepper: string },
): Promise<{ secret: string; old_secret_until: Date } | null> {
  const again = `case when old_secret_until > server_now() and ${overlapS > 0} then`;
  const [rotated] = await rows<{ secret: Buffer; old_secret_until: Date }>(
    db,
    `update webhook_endpoints set secret = ${again} secret else ? end, old_secret = ${again} old_secret else secret end,
       old_secret_until = ${again} greatest(old_secret_until, ends) else ends end, updated_at = server_now()
     from (select server_now() + ?::int * interval '1 s' as ends) e
     where id = ? and partner_id = ? returning secret, old_secret_until`,
    [sealWebhookSecret(pepper, partnerId, newWebhookSecret()), overlapS, id, partnerId],
  );
  if (rotated === undefined) return null;
  const secret = openWebhookSecret(pepper, partnerId, rotated.secret);
  // Sealed with an earlier pepper, so none of them signs.
  if (secret === null) return rotateWebhookSecret(db, partnerId, id, { overlapS: 0, pepper });
  return { ...rotated, secret };
}

/** An operator switches a webhook on or off. A partner cannot switch on what an operator switched off. */
const switching = (enabled: boolean) =>
  operatorAct(nothing, rowId, async (tx, _, id) => {
    const before = await findWebhook(tx, id);
    if (before === null) return unknown("webhook", id);
    if (!(await switchWebhook(tx, id, enabled, "operator")))
      return already("webhook", id, enabled ? "on" : "off");
    return {
      value: (await findWebhook(tx, id))!,
      action: enabled ? "webhook.enable" : "webhook.disable",
      subject: `webhook ${id}`,
      details: { partner: before.partner_id },
    };
  });
export const enableWebhook = switching(true);
export const disableWebhook = switching(false);
