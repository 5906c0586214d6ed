import { actorOf, consoleCall, type ConsoleCall } from "#api/console/operator-gate.ts";
import { rowId } from "#api/console/fields.ts";
import { orThrow } from "#api/http/errors.ts";
import type { Services } from "#api/http/services.ts";
import type { ConsoleWebhook } from "#src/contract/console.ts";
import { inMs, presented } from "#src/operators/presented.ts";
import { listWebhooks, switchWebhookByOperator } from "#src/pushes/webhooks/endpoints.ts";

/** Partners' webhooks (decisions 20.8): how they do, off and on. */
export const webhookCalls = ({ db }: Services): ConsoleCall[] => [
  consoleCall("GET", "/partners/{id}/webhooks", { role: "viewer" }, async (ctx) => {
    const webhooks = await listWebhooks(db, rowId(ctx.params["id"]));
    ctx.body = {
      webhooks: webhooks.map((one) => presented(one, inMs)) satisfies ConsoleWebhook[],
    };
  }),
  ...(["enable", "disable"] as const).map((verb) =>
    consoleCall("POST", `/webhooks/{id}/${verb}`, { role: "operator" }, async (ctx) => {
      const id = rowId(ctx.params["id"]);
      orThrow(await switchWebhookByOperator(db, actorOf(ctx), id, verb === "enable"));
      ctx.status = 204;
    }),
  ),
];
