import type { WebhookEvent } from "#src/domain/vocabulary.ts";
import { rows, type Statements } from "#src/infrastructure/db.ts";

/** SQL for an endpoint `e` that is told of an event: a bound name, or one that stands in the text. */
const isTold = (event: string): string => `e.off_at is null and ${event} = any(e.events)`;

/** SQL that wakes the webhooks role at the commit, on the channel of the change feed. */
export const wakeSql = "select pg_notify('changes', '')";

/** Writes an event into the outbox of each endpoint of the partner that wants it, in the transaction that decides it. */
export async function tellPartner(
  tx: Statements,
  partnerId: number,
  event: WebhookEvent,
  data: object,
): Promise<void> {
  const sql = `with told as (
       insert into webhook_deliveries (endpoint_id, type, data)
       select e.id, ?, ?::jsonb from webhook_endpoints e where e.partner_id = ? and ${isTold("?")}
       returning 1
     )
     ${wakeSql} from told limit 1`;
  await rows(tx, sql, [event, JSON.stringify(data), partnerId, event]);
}

/**
 * SQL of a part of the statement that stores outcomes: writes those of partners' own marks into the outbox, from
 * `outcome`, the stored rows of `marks` (id, partner_id, source). It costs a read of a small table.
 */
export const outcomesTold = `
  insert into webhook_outcomes (endpoint_id, mark_id)
  select e.id, o.id from outcome o join webhook_endpoints e on e.partner_id = o.partner_id
  where o.source = 'partner' and ${isTold("'report.processed'")}`;

const expiringDays = 7;

/** Tells partners of keys that end within seven days, once for each end. Gives the number of events. */
export async function tellExpiringKeys(db: Statements): Promise<number> {
  const endpoints = `webhook_endpoints e where e.partner_id = k.partner_id and ${isTold("'key.expiring'")}`;
  const sql = `with expiring as (
       update keys k set expiry_told = expires_at
       where revoked_at is null and expires_at > server_now()
         and expires_at < server_now() + interval '${expiringDays} days'
         and expiry_told is distinct from expires_at and exists (select from ${endpoints})
       returning id, partner_id, kind, prefix, label, expires_at
     ), told as (
       insert into webhook_deliveries (endpoint_id, type, data)
       select e.id, 'key.expiring', jsonb_build_object('key_id', k.id, 'kind', k.kind, 'prefix', k.prefix,
         'label', k.label, 'expires', to_char(k.expires_at, 'YYYY-MM-DD HH24:MI:SS'))
       from expiring k cross join lateral (select e.id from ${endpoints}) e
       returning 1
     )
     select count(*) from told`;
  const [told] = await rows<{ count: number }>(db, sql);
  return told!.count;
}
