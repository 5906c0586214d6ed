import { between } from "#src/contract/shapes/kinds.ts";
import { Type } from "typebox";
import { refused } from "#api/http/errors.ts";
import { route, type Route } from "#api/http/route.ts";
import type { AccountDeps } from "#api/account/deps.ts";
import { reply } from "#api/openapi/answers.ts";
import {
  createdWebhook,
  newWebhook,
  newWebhookExample,
  rotatedSecret,
  secretExample,
  webhook,
  webhookChanges,
  webhookExample,
  webhookList,
} from "#src/contract/shapes/webhooks.ts";
import { formatTime } from "#src/domain/time.ts";
import { hourS } from "#src/domain/units.ts";
import { presented } from "#src/operators/presented.ts";
import {
  changeWebhook,
  createWebhook,
  findWebhook,
  listWebhooks,
  removeWebhook,
  rotateWebhookSecret,
  type Webhook,
  type WebhookWish,
} from "#src/pushes/webhooks/endpoints.ts";
import { createReceivers } from "#src/pushes/receivers.ts";

const tag = "Webhooks";
const path = "/webhooks/{webhook_id}";
const notFound = ["webhook-not-found"] as const;

/** A partner's webhooks, docs/contract.md 10.1. */
export const webhookRoutes = (services: AccountDeps): Route[] => [
  route({
    method: "GET",
    path: "/webhooks",
    access: "secret",
    summary: "Your webhooks",
    answers: {
      operationId: "listWebhooks",
      tag,
      description: "The oldest first. Secrets are not shown.",
      replies: {
        200: reply("Your webhooks", webhookList, { webhooks: [webhookExample], count: 1 }),
      },
    },
    async handle(ctx) {
      const webhooks = await listWebhooks(services.db, ctx.state.key.partnerId);
      ctx.body = {
        webhooks: webhooks.map((one) => shownWebhook(one, inUtc)),
        count: webhooks.length,
      };
    },
  }),
  route({
    method: "POST",
    path: "/webhooks",
    access: "secret",
    summary: "Register a webhook",
    answers: {
      operationId: "createWebhook",
      tag,
      description:
        "It is told of what happens from now on. The answer has its secret: keep it, it is not shown again.",
      replies: {
        201: reply("The webhook, with its secret", createdWebhook, {
          ...webhookExample,
          secret: secretExample,
        }),
      },
      problems: ["webhook-limit"],
      bodyExamples: { "stations and outcomes": newWebhookExample },
    },
    body: newWebhook,
    async handle(ctx) {
      const { key, body } = ctx.state;
      const { webhook: made, secret } = await registerWebhook(services, key.partnerId, body);
      ctx.status = 201;
      ctx.set("Cache-Control", "no-store");
      ctx.body = { ...shownWebhook(made, inUtc), secret };
    },
  }),
  route({
    method: "GET",
    path,
    access: "secret",
    summary: "One webhook",
    answers: {
      operationId: "getWebhook",
      tag,
      description: "As in the list.",
      replies: { 200: reply("The webhook", webhook, webhookExample) },
      problems: notFound,
    },
    async handle(ctx) {
      ctx.body = shownWebhook(await ownWebhook(services, ctx), inUtc);
    },
  }),
  route({
    method: "PATCH",
    path,
    access: "secret",
    summary: "Change a webhook, switch it off or on",
    answers: {
      operationId: "changeWebhook",
      tag,
      description:
        "What waits is sent after it is switched on, and stations that changed meanwhile. Other events of that time are not made up for.",
      replies: { 200: reply("The webhook", webhook, webhookExample) },
      problems: [...notFound, "webhook-off"],
      bodyExamples: { "switch it on": { enabled: true } },
    },
    body: webhookChanges,
    async handle(ctx) {
      const { key, body } = ctx.state;
      const before = await ownWebhook(services, ctx);
      const changed = await adjustWebhook(services, key.partnerId, before, body);
      ctx.body = shownWebhook(changed, inUtc);
    },
  }),
  route({
    method: "DELETE",
    path,
    access: "secret",
    summary: "Remove a webhook",
    answers: {
      operationId: "removeWebhook",
      tag,
      description: "With its deliveries.",
      replies: { 204: { description: "It is gone" } },
      problems: notFound,
    },
    async handle(ctx) {
      const { partnerId } = ctx.state.key;
      if (!(await removeWebhook(services.db, partnerId, pathId(ctx.params["webhook_id"]))))
        throw refused("webhook-not-found");
      ctx.status = 204;
    },
  }),
  route({
    method: "POST",
    path: `${path}/rotate-secret`,
    access: "secret",
    summary: "Give a webhook a new secret",
    answers: {
      operationId: "rotateWebhookSecret",
      tag,
      description:
        "Until `old_secret_until` each request carries two signatures, of the new secret and of the one before. The answer has the new secret. If it is lost, call again before that time: you get the same one. With `overlap_hours=0` a new one is made at any time, and it alone signs.",
      replies: {
        200: reply("The new secret", rotatedSecret, {
          secret: secretExample,
          old_secret_until: "2026-02-01 18:05:00",
        }),
      },
      problems: notFound,
    },
    query: Type.Object({
      overlap_hours: Type.Optional(between("How long the secret before signs as well", 0, 168, 24)),
    }),
    async handle(ctx) {
      const { key, query } = ctx.state;
      const id = pathId(ctx.params["webhook_id"]);
      const rotated = await rotateSecret(services, key.partnerId, id, query.overlap_hours);
      ctx.set("Cache-Control", "no-store");
      ctx.body = presented(rotated, inUtc);
    },
  }),
];

/** The id in a path; 0, which no row has, when it cannot be one. */
export const pathId = (text: string | undefined, max = 2_147_483_647): number =>
  /^[1-9]\d{0,14}$/.test(text ?? "") && Number(text) <= max ? Number(text) : 0;

export const inUtc = (time: Date): string => formatTime(time.getTime());

/** The webhook that a path names; throws a refusal when the partner has no such one. */
export async function ownWebhook(
  { db }: Pick<AccountDeps, "db">,
  { params, state }: { params: Record<string, string>; state: { key: { partnerId: number } } },
): Promise<Webhook> {
  const found = await findWebhook(db, pathId(params["webhook_id"]), state.key.partnerId);
  if (found === null) throw refused("webhook-not-found");
  return found;
}

/** Registers a webhook; throws a refusal of its URL, or when the partner has as many as possible. */
export async function registerWebhook(
  { db, config }: Pick<AccountDeps, "db" | "config">,
  partnerId: number,
  { url, events, description = "" }: Omit<WebhookWish, "description"> & { description?: string },
): Promise<{ webhook: Webhook; secret: string }> {
  const { webhookEndpoints: most, reporterPepper: pepper } = config;
  const wish = { url: await readUrl(config, url), events, description };
  const made = await createWebhook(db, partnerId, wish, { most, pepper });
  if (made === null)
    throw refused("webhook-limit", `You have ${most} webhooks, as many as possible.`);
  return made;
}

/** Changes a webhook of the partner; throws a refusal of its URL, or when only the operator may switch it on. */
export async function adjustWebhook(
  { db, config }: Pick<AccountDeps, "db" | "config">,
  partnerId: number,
  { id, off_reason }: Webhook,
  changes: Partial<WebhookWish> & { enabled?: boolean },
): Promise<Webhook> {
  if (changes.enabled === true && off_reason === "operator")
    throw refused("webhook-off", "The operator has switched this webhook off. Ask the operator.");
  const { url, ...rest } = changes;
  const read = url === undefined ? {} : { url: await readUrl(config, url) };
  const changed = await changeWebhook(db, partnerId, id, { ...rest, ...read });
  if (changed === null) throw refused("webhook-not-found");
  return changed;
}

/** A new secret; throws a refusal when the partner has no such webhook. */
export async function rotateSecret(
  { db, config }: Pick<AccountDeps, "db" | "config">,
  partnerId: number,
  id: number,
  overlapHours = 24,
): Promise<{ secret: string; old_secret_until: Date }> {
  const wish = { overlapS: overlapHours * hourS, pepper: config.reporterPepper };
  const rotated = await rotateWebhookSecret(db, partnerId, id, wish);
  if (rotated === null) throw refused("webhook-not-found");
  return rotated;
}

/** The shape of docs/contract.md 10.1, each time through `format`. */
export function shownWebhook<Time>(row: Webhook, format: (time: Date) => Time) {
  const { partner_id: _partner, ...shown } = presented(row, format);
  return shown;
}

async function readUrl(config: AccountDeps["config"], text: string): Promise<string> {
  const read = await createReceivers(config).read(text);
  if ("url" in read) return read.url;
  const fault = { loc: ["body", "url"], msg: read.fault, type: "value_error" };
  throw refused("validation-failed", [fault]);
}
