import { actCall, consoleCall, type ConsoleCall, idOf } from "#api/console/operator-gate.ts";
import type { ConsoleDeps } from "#api/console/deps.ts";
import type { ConsoleWebhook } from "#src/contract/console.ts";
import { rowId } from "#src/operators/inputs.ts";
import { inMs, presented } from "#src/operators/presented.ts";
import { listWebhooks, disableWebhook, enableWebhook } from "#src/pushes/webhooks/endpoints.ts";

/** Partners' webhooks (decisions 20.8): how they do, off and on. */
export const webhookCalls = (services: ConsoleDeps): ConsoleCall[] => [
  consoleCall("GET", "/partners/{id}/webhooks", { role: "viewer" }, async (ctx) => {
    const webhooks = await listWebhooks(services.db, idOf(rowId, ctx.params["id"]));
    ctx.body = {
      webhooks: webhooks.map((one) => presented(one, inMs)) satisfies ConsoleWebhook[],
    };
  }),
  actCall(services, "POST", "/webhooks/{id}/enable", enableWebhook),
  actCall(services, "POST", "/webhooks/{id}/disable", disableWebhook),
];
