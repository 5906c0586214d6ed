import { Command } from "commander";
import { actVerb } from "#cli/act-verb.ts";
import { id, verb } from "#cli/command.ts";
import { withDb } from "#cli/instance.ts";
import { card, type Output, readable, table } from "#cli/output.ts";
import { cleanText } from "#src/import/clean-text.ts";
import { refuseAbsentPartner } from "#src/keys/partners.ts";
import { unknown } from "#src/operators/act.ts";
import { listDeliveries } from "#src/pushes/webhooks/deliveries.ts";
import {
  disableWebhook,
  enableWebhook,
  findWebhook,
  listWebhooks,
  type Webhook,
} from "#src/pushes/webhooks/endpoints.ts";

const deliveriesShown = 20;
const textMax = 200;

/** `operator webhook list|show|enable|disable` (decisions 20.8). */
export function webhookCommand(output: () => Output): Command {
  const command = new Command("webhook").description(
    "partners' webhooks: what is pushed to their servers",
  );

  verb(command, "list", "webhooks with their state, oldest first", "webhook list --partner 3")
    .option("--partner <id>", "only of this partner", id)
    .action(async ({ partner = null }: { partner?: number | null }) => {
      const webhooks = await withDb(
        output(),
        async (db) => (await refuseAbsentPartner(db, partner)) ?? listWebhooks(db, partner),
      );
      output().result(webhooks.map(shown), (list) =>
        table(list, "no webhooks", [
          ...(["id", "partner_id", "url", "events", "enabled", "off_reason"] as const),
          ...(["failing_since", "waiting"] as const),
        ]),
      );
    });

  verb(
    command,
    "show",
    "one webhook, and its last deliveries with their answers",
    "webhook show 3 --json",
  )
    .argument("<id>", "the webhook's id", id)
    .action(async (webhookId: number) => {
      const found = await withDb(output(), async (db) => {
        const webhook = await findWebhook(db, webhookId);
        if (webhook === null) return unknown("webhook", webhookId);
        const deliveries = await listDeliveries(db, webhookId, deliveriesShown);
        return { ...shown(webhook), deliveries: deliveries.map(readable) };
      });
      output().result(found, ({ deliveries, ...webhook }) => {
        const lines = deliveries.map(({ answer, fault, ...delivery }) => {
          return { ...delivery, answer: cleanText(answer ?? fault, textMax) };
        });
        return `${card(webhook)}\n\n${table(lines, "no deliveries")}`;
      });
    });

  const subject = ["<id>", "the webhook's id"] as const;
  actVerb(command, output, enableWebhook, {
    name: "enable",
    about: "switch a webhook on; what waits is sent",
    examples: ["webhook enable 3"],
    ...{ subject, shown },
  });
  actVerb(command, output, disableWebhook, {
    name: "disable",
    about: "switch a webhook off; its partner cannot switch it on again",
    examples: ["webhook disable 3"],
    ...{ subject, shown },
  });

  return command;
}

/** A partner's text must not control a terminal. */
const shown = (webhook: Webhook) => ({
  ...readable(webhook),
  description: cleanText(webhook.description, textMax),
});
