import { count, flag, list, named, orNull, text, time, word } from "#src/contract/shapes/kinds.ts";
import { type Static, Type } from "typebox";
import { offReasons, webhookEvents } from "#src/domain/vocabulary.ts";

const url = Type.String({
  minLength: 1,
  maxLength: 2000,
  description: "Where events are posted to: `https://`, at a public address",
});
const events = Type.Array(word(webhookEvents), {
  minItems: 1,
  maxItems: webhookEvents.length,
  uniqueItems: true,
  description: "What it is told of",
});
const description = Type.String({ maxLength: 200, description: "For yourself" });

/** The partner's input for a new webhook, docs/contract.md 10.1. */
export const newWebhook = named("NewWebhook", {
  url,
  events,
  description: Type.Optional(description),
});

/** The fields of a webhook that can be changed. */
export const webhookChanges = Type.Object(
  {
    url: Type.Optional(url),
    events: Type.Optional(events),
    description: Type.Optional(description),
    enabled: Type.Optional(flag("False switches it off; what waits is kept for later")),
  },
  { title: "WebhookChanges", minProperties: 1 },
);

const webhookId = Type.Integer({ minimum: 1, description: "Number of the webhook" });
const fields = {
  id: webhookId,
  url: text("Where events are posted to"),
  events: list("What it is told of", word(webhookEvents)),
  description: text("Your words; may be empty"),
  enabled: flag("False: nothing is sent, and `off_reason` says why"),
  off: orNull(time("UTC; when it was switched off; null while it is on")),
  off_reason: orNull(
    word(
      offReasons,
      "By you, by the operator, after three days of failures, or after a 410; null while it is on",
    ),
  ),
  failing_since: orNull(
    time(
      "UTC; the first of the failures in a row; null after a success, and when an attempt comes over an hour late",
    ),
  ),
  waiting: count("Deliveries that are not taken yet"),
  old_secret_until: orNull(
    time("UTC; until then the secret before signs as well; null without one"),
  ),
  created: time("UTC; when you registered it"),
};
const secret = Type.String({
  pattern: "^whsec_[A-Za-z0-9+/]+=*$",
  description: "Signs what is sent; shown this once",
});

export const webhook = named("Webhook", fields);
export const createdWebhook = named("CreatedWebhook", { ...fields, secret });
export const webhookList = named("WebhookList", {
  webhooks: list("The oldest first", webhook),
  count: count("Your webhooks"),
});
export const rotatedSecret = named("RotatedSecret", {
  secret,
  old_secret_until: time("UTC; until then both secrets sign"),
});

/** docs/contract.md 10.2. */
export const delivery = named("Delivery", {
  id: Type.Integer({ minimum: 1, description: "Number of the delivery" }),
  message_id: text("`webhook-id`; the same when it is sent again"),
  type: text("The event; `webhook.test` for a test"),
  created: time("UTC; when it happened"),
  delivered: orNull(time("UTC; null while it is not taken")),
  attempts: count("How often it was sent"),
  tried: orNull(time("UTC; the last attempt; null before the first")),
  status: orNull(
    Type.Integer({ description: "HTTP status of the last answer; null without an answer" }),
  ),
  answer: orNull(text("The first 500 characters of its body; null without an answer")),
  fault: orNull(text("Why there was no answer; null if there was one")),
  duration_ms: orNull(count("Milliseconds of the last attempt")),
});
export const deliveryList = named("DeliveryList", {
  deliveries: list("The newest first", delivery),
  count: count("Deliveries in this answer"),
});

export const newWebhookExample: Static<typeof newWebhook> = {
  url: "https://hooks.example.com/fuel",
  events: ["stations.changed", "report.processed"],
  description: "Map server",
};
export const webhookExample: Static<typeof webhook> = {
  id: 3,
  url: "https://hooks.example.com/fuel",
  events: ["stations.changed", "report.processed"],
  description: "Map server",
  enabled: true,
  off: null,
  off_reason: null,
  failing_since: null,
  waiting: 0,
  old_secret_until: null,
  created: "2026-01-31 18:05:00",
};
export const secretExample = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
export const deliveryExample: Static<typeof delivery> = {
  id: 1204,
  message_id: "msg_7f0a3c1e5b9d4e2f8a6c0d1b2e3f4a5b",
  type: "stations.changed",
  created: "2026-01-31 18:05:00",
  delivered: "2026-01-31 18:05:01",
  attempts: 1,
  tried: "2026-01-31 18:05:01",
  status: 204,
  answer: "",
  fault: null,
  duration_ms: 41,
};
