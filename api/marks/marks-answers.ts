import { type Answers, json } from "#api/openapi/answers.ts";
import type { ProblemCode } from "#src/contract/refusals.ts";
import {
  batchExample,
  batchResult,
  outputExample,
  queuedExample,
  reportExample,
  reportOutput,
  reportState,
} from "#src/contract/shapes/marks.ts";

/** What the checks of docs/decisions.md 3 may say of a mark. */
export const markProblems: readonly ProblemCode[] = [
  "station-not-found",
  "reports-disabled",
  "station-cooldown",
  "user-rate-limited",
  "new-users-limit",
  "too-far",
  "bad-grade",
  "bad-timestamp",
];

/** Of one mark, docs/decisions.md 5. */
export const markReplies: Answers["replies"] = {
  200: {
    description: "Stored and processed; a repeat (`duplicate`) or a rehearsal (`X-Dry-Run`)",
    sometimes: ["Preference-Applied"],
    forms: json(reportOutput, outputExample),
  },
  202: {
    description: "Stored; ask `Location` for the outcome",
    headers: ["Location"],
    sometimes: ["Preference-Applied"],
    forms: json(reportOutput, queuedExample),
  },
};

export const reportAnswers: Answers = {
  operationId: "reportStation",
  tag: "Marks",
  description:
    "Send `lat`, `lon` and `acc_m` when you have them: a mark at the station counts fully, any other is `remote` and needs a second user. A retry with the same `external_id` is safe for 30 days. The operator may switch marks off for a key.",
  replies: markReplies,
  problems: markProblems,
  takes: ["Prefer", "X-Dry-Run"],
  bodyExamples: {
    "a mark at the station": reportExample,
    "the least": { status: "no", user_ref: "user-18" },
  },
};

export const reportBatchAnswers: Answers = {
  operationId: "reportStations",
  tag: "Marks",
  description:
    "Up to 500 marks, 1 MiB. Each is checked by itself and meets the caps by itself; the call counts as one request.",
  replies: {
    200: {
      description: "A rehearsal (`X-Dry-Run`): what would become of each, in the order sent",
      forms: json(batchResult, { reports: [{ ...outputExample, report_id: "" }], count: 1 }),
    },
    202: {
      description: "What became of each, in the order sent",
      forms: json(batchResult, { reports: [queuedExample], count: 1 }),
    },
  },
  takes: ["X-Dry-Run"],
  bodyExamples: { "one mark": batchExample },
};

export const reportStateAnswers: Answers = {
  operationId: "getReport",
  tag: "Marks",
  description: "For the partner that sent it, for 7 days.",
  replies: {
    200: {
      description: "The mark's outcome, and the station's fuel block as it is now",
      forms: json(reportState, {
        ...outputExample,
        station_id: "n1234567",
        state: "processed",
      }),
    },
  },
  problems: ["report-not-found"],
};
