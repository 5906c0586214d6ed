import { between } from "#src/contract/shapes/kinds.ts";
import { Type } from "typebox";
import { inUtc, ownWebhook, pathId } from "#api/account/webhooks.ts";
import { refused } from "#api/http/errors.ts";
import { route, type Route } from "#api/http/route.ts";
import type { AccountDeps } from "#api/account/deps.ts";
import { reply } from "#api/openapi/answers.ts";
import { delivery, deliveryExample, deliveryList } from "#src/contract/shapes/webhooks.ts";
import type { Db } from "#src/infrastructure/db.ts";
import { presented } from "#src/operators/presented.ts";
import {
  type Delivery,
  listDeliveries,
  redeliver,
  sendTestEvent,
} from "#src/pushes/webhooks/deliveries.ts";
import type { Webhook } from "#src/pushes/webhooks/endpoints.ts";

const tag = "Webhooks";
const path = "/webhooks/{webhook_id}";
const waitingExample = {
  ...deliveryExample,
  ...{ delivered: null, attempts: 0, tried: null, status: null, answer: null, duration_ms: null },
};

/** The deliveries of a webhook, docs/contract.md 10.2. */
export const deliveryRoutes = ({ db }: AccountDeps): Route[] => [
  route({
    method: "POST",
    path: `${path}/test`,
    access: "secret",
    summary: "Send a test event",
    answers: {
      operationId: "testWebhook",
      tag,
      description:
        "Of type `webhook.test`, after what waits already; a pause after a failure ends. The list of deliveries shows the answer.",
      replies: {
        202: reply("The delivery", delivery, { ...waitingExample, type: "webhook.test" }),
      },
      problems: ["webhook-not-found", "webhook-off"],
    },
    async handle(ctx) {
      const made = await sendTest(db, await ownWebhook({ db }, ctx));
      ctx.status = 202;
      ctx.body = presented(made, inUtc);
    },
  }),
  route({
    method: "GET",
    path: `${path}/deliveries`,
    access: "secret",
    summary: "What was sent to a webhook, and what it answered",
    answers: {
      operationId: "listDeliveries",
      tag,
      description: "The newest first; the newest 1,000 and what waits, for 30 days.",
      replies: {
        200: reply("Deliveries", deliveryList, { deliveries: [deliveryExample], count: 1 }),
      },
      problems: ["webhook-not-found"],
    },
    query: Type.Object({
      limit: Type.Optional(between("Of one answer", 1, 100, 20)),
      before: Type.Optional(
        between("`id` of the last one of the page before", 1, 999_999_999_999_999),
      ),
    }),
    async handle(ctx) {
      const { id } = await ownWebhook({ db }, ctx);
      const { limit = 20, before = null } = ctx.state.query;
      const deliveries = await listDeliveries(db, id, limit, before);
      ctx.body = {
        deliveries: deliveries.map((one) => presented(one, inUtc)),
        count: deliveries.length,
      };
    },
  }),
  route({
    method: "POST",
    path: `${path}/deliveries/{delivery_id}/redeliver`,
    access: "secret",
    summary: "Send a delivery again",
    answers: {
      operationId: "redeliver",
      tag,
      description:
        "As a new delivery with the same `webhook-id`, after what waits already. One that still waits is tried at once.",
      replies: { 202: reply("The delivery", delivery, waitingExample) },
      problems: ["webhook-not-found", "delivery-not-found", "webhook-off"],
    },
    async handle(ctx) {
      const own = await ownWebhook({ db }, ctx);
      const made = await sendAgain(db, own, pathId(ctx.params["delivery_id"], 1e15));
      ctx.status = 202;
      ctx.body = presented(made, inUtc);
    },
  }),
];

/** Throws a refusal while the webhook is off. */
export function sendTest(db: Db, { id, enabled }: Webhook): Promise<Delivery> {
  if (!enabled) throw refused("webhook-off");
  return sendTestEvent(db, id);
}

/** Throws a refusal while the webhook is off, and when it has no such delivery. */
export async function sendAgain(
  db: Db,
  { id, enabled }: Webhook,
  deliveryId: number,
): Promise<Delivery> {
  if (!enabled) throw refused("webhook-off");
  const made = await redeliver(db, id, deliveryId);
  if (made === null) throw refused("delivery-not-found");
  return made;
}
