import { type Answers, json } from "#api/openapi/answers.ts";
import {
  limitRequest,
  limitRequestExample,
  limitRequestList,
  usage,
  usageExample,
} from "#src/contract/shapes/account.ts";

export const usageAnswers: Answers = {
  operationId: "getUsage",
  tag: "Account",
  description:
    "Today is counted live, this request included. Requests that a limit refused are not.",
  replies: { 200: { description: "By day and method", forms: json(usage, usageExample) } },
};

export const askLimitsAnswers: Answers = {
  operationId: "requestLimits",
  tag: "Account",
  description:
    "One request may be pending at a time. Approved limits apply by themselves; the operator answers within a business day.",
  replies: {
    201: { description: "The request", forms: json(limitRequest, limitRequestExample) },
  },
  problems: ["limit-request-pending"],
  bodyExamples: {
    "more of both": {
      requested_rpm: 600,
      requested_daily: 200_000,
      comment: limitRequestExample.comment,
    },
  },
};

export const listLimitsAnswers: Answers = {
  operationId: "listLimitRequests",
  tag: "Account",
  description: "The newest first.",
  replies: {
    200: {
      description: "Your requests",
      forms: json(limitRequestList, { requests: [limitRequestExample], count: 1 }),
    },
  },
};
