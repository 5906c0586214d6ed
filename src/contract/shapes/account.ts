import { count, list, named, orNull, part, text, time, word } from "#src/contract/shapes/kinds.ts";
import { type Static, Type } from "typebox";

const date = Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$", description: "UTC day" });
const requests = count("Requests that counted, 304s and refusals included");
const today = { date, requests };
const usageDay = named("UsageDay", {
  ...today,
  not_modified: count("304s among them"),
  errors: count("Refused requests among them"),
  methods: Type.Unsafe<Record<string, number>>(
    Type.Object(
      {},
      {
        additionalProperties: count("Requests"),
        description: "By method and path: `GET /stations`",
      },
    ),
  ),
});
const days = list("The newest first, empty days filled in", usageDay);

/** decisions 6. */
export const usage = named("Usage", {
  today: part("The day so far, this request included", {
    ...today,
    remaining: count("Requests left until 00:00 UTC"),
  }),
  limits: part("Your limits as they are now", {
    rpm: Type.Integer({ minimum: 1, description: "Requests a minute" }),
    daily: Type.Integer({ minimum: 1, description: "Requests a day" }),
  }),
  days,
  widget: part("Requests with publishable keys; they use the viewers' budgets", {
    today: part("The day so far", today),
    days,
  }),
});

/** docs/contract.md 2.6, decisions 6. */
export const limitRequest = named("LimitRequest", {
  id: Type.Integer({ minimum: 1, description: "Number of the request" }),
  status: word(
    ["pending", "approved", "rejected"],
    "What the operator decided; the limits granted may differ from those asked for",
  ),
  requested_rpm: Type.Integer({ description: "Requests a minute that you asked for" }),
  requested_daily: Type.Integer({ description: "Requests a day that you asked for" }),
  comment: text("What you wrote; may be empty"),
  created: time("UTC; when you asked"),
  decided: orNull(time("UTC; null while it is pending")),
  decision_comment: text("What the operator wrote; may be empty"),
});

export const limitRequestList = named("LimitRequestList", {
  requests: list("The newest first", limitRequest),
  count: count("Requests in this answer"),
});

export const limitRequestExample: Static<typeof limitRequest> = {
  id: 7,
  status: "pending",
  requested_rpm: 600,
  requested_daily: 200_000,
  comment: "We open in a second city.",
  created: "2026-01-31 18:05:00",
  decided: null,
  decision_comment: "",
};
const dayExample = {
  date: "2026-01-31",
  requests: 1440,
  not_modified: 1200,
  errors: 2,
  methods: { "GET /stations/delta": 1440 },
};
export const usageExample: Static<typeof usage> = {
  today: { date: "2026-01-31", requests: 1440, remaining: 48_560 },
  limits: { rpm: 120, daily: 50_000 },
  days: [dayExample],
  widget: {
    today: { date: "2026-01-31", requests: 0 },
    days: [{ ...dayExample, requests: 0, not_modified: 0, errors: 0, methods: {} }],
  },
};

/** decisions 8.37. */
export const rotatedKey = named("RotatedKey", {
  key: text("The new key, shown only here"),
  prefix: text("Its beginning, by which lists show it"),
  old_key_ends: time("UTC; the old key works until then"),
  request_id: text("Yours, as you sent it"),
});
export const rotatedKeyExample: Static<typeof rotatedKey> = {
  key: "svc_live_Ab12…",
  prefix: "svc_live_Ab12",
  old_key_ends: "2026-02-07 18:05:00",
  request_id: "5f0c8a0e-4a5f-4a52-9a68-3d2a4f0c7b11",
};
