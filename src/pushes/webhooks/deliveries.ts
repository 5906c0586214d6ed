import type { ShownDelivery } from "#src/contract/dashboard.ts";
import { testEvent } from "#src/domain/vocabulary.ts";
import { type Db, rows } from "#src/infrastructure/db.ts";
import { wakeSql } from "#src/pushes/webhooks/outbox.ts";

/** A delivery to a webhook, sent or waiting, with the answer to its last attempt. */
export interface Delivery extends Omit<
  ShownDelivery,
  "created" | "delivered" | "tried" | "contents"
> {
  created_at: Date;
  delivered_at: Date | null;
  tried_at: Date | null;
}

const columns =
  "id, message_id, type, created_at, delivered_at, attempts, tried_at, status, answer, fault, duration_ms";

/** Deliveries of a webhook, the newest first; `before` is the id of the last one of the page before. */
export const listDeliveries = (
  db: Db,
  endpointId: number,
  limit: number,
  before: number | null = null,
): Promise<Delivery[]> =>
  rows<Delivery>(
    db,
    `select ${columns} from webhook_deliveries where endpoint_id = ? and (?::bigint is null or id < ?)
     order by id desc limit ?`,
    [endpointId, before, before, limit],
  );

const contentsMax = 2000;

/** The subjects of a webhook's deliveries, as JSON of at most 2000 characters, by their ids. */
export async function contentsOf(
  db: Db,
  endpointId: number,
  ids: readonly number[],
): Promise<Map<number, string>> {
  const sql = `select id, left(data::text, ${contentsMax}) as contents from webhook_deliveries
     where endpoint_id = ? and id = any(?::bigint[])`;
  const found = await rows<{ id: number; contents: string }>(db, sql, [endpointId, ids]);
  return new Map(found.map(({ id, contents }) => [id, contents]));
}

/** Ends the pause after a failure, because a person who asks by hand wants to see an answer. */
const atOnceSql =
  "update webhook_endpoints set next_at = least(next_at, server_now()) where id = ?";

/** Sends a test event to a webhook, after its waiting deliveries. */
export async function sendTestEvent(db: Db, endpointId: number): Promise<Delivery> {
  const sql = `with pause as (${atOnceSql})
     insert into webhook_deliveries (endpoint_id, type, data) values (?, ?, '{}') returning ${columns}`;
  const [made] = await rows<Delivery>(db, sql, [endpointId, endpointId, testEvent]);
  await rows(db, wakeSql);
  return made!;
}

/**
 * Sends a delivery again, with its message's id and time and after the waiting deliveries; one that still waits is tried
 * at once. Null when the webhook has no delivery of this id.
 */
export async function redeliver(
  db: Db,
  endpointId: number,
  deliveryId: number,
): Promise<Delivery | null> {
  const sql = `with pause as (${atOnceSql}), found as (
       select * from webhook_deliveries where endpoint_id = ? and id = ?
     ), made as (
       insert into webhook_deliveries (endpoint_id, message_id, type, data, created_at)
       select endpoint_id, message_id, type, data, created_at from found where delivered_at is not null
       returning ${columns}
     )
     select ${columns} from made union all select ${columns} from found where delivered_at is null`;
  const [again] = await rows<Delivery>(db, sql, [endpointId, endpointId, deliveryId]);
  if (again === undefined) return null;
  await rows(db, wakeSql);
  return again;
}
