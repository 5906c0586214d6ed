import { sendAgain, sendTest } from "#api/account/webhook-deliveries.ts";
import {
  adjustWebhook,
  pathId,
  registerWebhook,
  rotateSecret,
  shownWebhook,
} from "#api/account/webhooks.ts";
import { dashboardCall, type DashboardViewer } from "#api/dashboard/viewer.ts";
import { refused } from "#api/http/errors.ts";
import type { DashboardDeps } from "#api/dashboard/deps.ts";
import type { RouteContext } from "#api/http/route.ts";
import type { ShownDelivery, ShownWebhook } from "#src/contract/dashboard.ts";
import { newWebhook, webhookChanges } from "#src/contract/shapes/webhooks.ts";
import { inMs, presented } from "#src/operators/presented.ts";
import { contentsOf, listDeliveries } from "#src/pushes/webhooks/deliveries.ts";
import {
  findWebhook,
  listWebhooks,
  removeWebhook,
  type Webhook,
} from "#src/pushes/webhooks/endpoints.ts";

const deliveriesShown = 50;

/** The partner's webhooks, as the API's calls do it (docs/contract.md 10). */
export const webhookCalls = (services: DashboardDeps) => {
  const { db } = services;
  const own = async ({ params, state }: ViewerContext): Promise<Webhook> => {
    const found = await findWebhook(db, pathId(params["id"]), state.viewer.key.partnerId);
    if (found === null) throw refused("webhook-not-found");
    return found;
  };
  return [
    dashboardCall("GET", "/webhooks", {}, async (ctx) => {
      const webhooks = await listWebhooks(db, ctx.state.viewer.key.partnerId);
      ctx.body = { webhooks: webhooks.map(shown) };
    }),
    dashboardCall("POST", "/webhooks", { body: newWebhook }, async (ctx) => {
      const { viewer, body } = ctx.state;
      const made = await registerWebhook(services, viewer.key.partnerId, body);
      ctx.status = 201;
      ctx.body = { ...shown(made.webhook), secret: made.secret };
    }),
    dashboardCall("PATCH", "/webhooks/{id}", { body: webhookChanges }, async (ctx) => {
      const { viewer, body } = ctx.state;
      const changed = await adjustWebhook(services, viewer.key.partnerId, await own(ctx), body);
      ctx.body = shown(changed);
    }),
    dashboardCall("DELETE", "/webhooks/{id}", {}, async (ctx) => {
      const { id, partner_id: partnerId } = await own(ctx);
      await removeWebhook(db, partnerId, id);
      ctx.status = 204;
    }),
    dashboardCall("POST", "/webhooks/{id}/rotate-secret", {}, async (ctx) => {
      const { id, partner_id: partnerId } = await own(ctx);
      ctx.body = presented(await rotateSecret(services, partnerId, id), inMs);
    }),
    dashboardCall("POST", "/webhooks/{id}/test", {}, async (ctx) => {
      ctx.status = 202;
      ctx.body = presented(await sendTest(db, await own(ctx)), inMs);
    }),
    dashboardCall("GET", "/webhooks/{id}/deliveries", {}, async (ctx) => {
      const { id: webhookId } = await own(ctx);
      const deliveries = await listDeliveries(db, webhookId, deliveriesShown);
      const contents = await contentsOf(
        db,
        webhookId,
        deliveries.map(({ id }) => id),
      );
      ctx.body = {
        deliveries: deliveries.map((one) => ({
          ...presented(one, inMs),
          contents: contents.get(one.id) ?? "",
        })) satisfies ShownDelivery[],
      };
    }),
    dashboardCall("POST", "/webhooks/{id}/deliveries/{delivery}/redeliver", {}, async (ctx) => {
      const deliveryId = pathId(ctx.params["delivery"], 1e15);
      ctx.status = 202;
      ctx.body = presented(await sendAgain(db, await own(ctx), deliveryId), inMs);
    }),
  ];
};

type ViewerContext = Pick<
  RouteContext<unknown, unknown, { viewer: DashboardViewer }>,
  "params" | "state"
>;

const shown = (webhook: Webhook): ShownWebhook => shownWebhook(webhook, inMs);
