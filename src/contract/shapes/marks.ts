import { type Static, Type } from "typebox";
import {
  fuelBlock,
  fuelExample,
  orNull,
  reason,
  rules,
  servedStatus,
  word,
} from "#src/contract/shapes/fuel.ts";
import { problem } from "#src/contract/shapes/problem.ts";
import { statuses } from "#src/domain/vocabulary.ts";
import type { BatchItem, ReportBody } from "#src/contract/report.ts";

const outcomes = [
  "queued",
  "held",
  "expired",
  "published",
  "confirmed",
  "conflict",
  "pending",
  "superseded",
] as const;
const reportId = Type.String({
  pattern: "^\\d*$",
  description: "Of GET /reports/{report_id}; empty after a dry run",
});
const stationId = Type.String({ description: "`id` of the marked station" });
const count = Type.Integer({ minimum: 0, description: "Elements of `reports`" });
const output = {
  accepted: Type.Boolean({ description: "False only for a mark that came over 24 hours late" }),
  remote: Type.Boolean({ description: "Without geo-confirmation: needs a second user" }),
  published: Type.Object(
    {
      outcome: word(
        outcomes,
        "`queued`: not decided yet; `held`: an operator decides; `expired`: came over 24 hours late",
      ),
      status: servedStatus,
      resolution_reason: reason,
      needed: orNull(
        Type.Integer({
          minimum: 1,
          description: "Independent devices needed; null while queued",
        }),
      ),
      have: orNull(
        Type.Integer({
          minimum: 0,
          description: "Devices behind the mark's version; null while queued",
        }),
      ),
      rule: orNull(word(rules, "Why that many are needed; null while queued")),
    },
    { title: "Outcome", description: "What became of the mark. Nulls while it is queued." },
  ),
  fuel: fuelBlock,
  duplicate: Type.Boolean({ description: "Repeats an earlier mark: no second one was made" }),
};

/** decisions 3.6. */
const duplicateOf = Type.Object(
  {
    report_id: reportId,
    station_id: stationId,
    status: word(statuses, "What it said"),
    same_body: Type.Boolean({ description: "Whether this body says the same as the first" }),
  },
  { title: "DuplicateOf", description: "The first mark with this `external_id`" },
);

/** docs/contract.md 2.8 and decisions 5. */
export const reportOutput = Type.Object(
  { report_id: reportId, ...output, duplicate_of: Type.Optional(duplicateOf) },
  { title: "ReportResult" },
);

export const reportState = Type.Object(
  {
    report_id: reportId,
    station_id: stationId,
    state: word(["queued", "processed"], "Whether the outcome is known"),
    ...output,
  },
  { title: "ReportState" },
);

export const batchResult = Type.Object(
  {
    reports: Type.Array(
      Type.Union([
        reportOutput,
        Type.Object(
          {
            error: problem,
            retry_after: Type.Optional(
              Type.Integer({ minimum: 1, description: "Seconds to wait, where that helps" }),
            ),
          },
          { title: "ReportError" },
        ),
      ]),
      { description: "In the order sent" },
    ),
    count,
  },
  { title: "BatchResult" },
);

/** decisions 5.5. */
export const reportStates = Type.Object(
  {
    reports: Type.Array(
      Type.Union([
        reportState,
        Type.Object(
          { report_id: Type.String({ description: "As you asked for it" }), error: problem },
          { title: "UnknownReport" },
        ),
      ]),
      { description: "In the order asked for" },
    ),
    count,
  },
  { title: "ReportStates" },
);

/** decisions 19.5. */
export const erasedPerson = Type.Object(
  {
    erased: Type.Boolean({ description: "False: nobody of this name is known, or not any more" }),
  },
  { title: "Erased" },
);

export const reportExample: ReportBody = {
  status: "yes",
  user_ref: "user-17",
  lat: 55.0302,
  lon: 82.9204,
  acc_m: 12,
  fuels: ["92", "95"],
  fuels_no: ["ДТ"],
  queue: "0-5",
  prices: { "92": 58.1, "95": 62.5 },
  external_id: "mark-2026-0001",
};
export const batchExample: { reports: BatchItem[] } = {
  reports: [{ station_id: "n1234567", status: "low", user_ref: "user-18" }],
};
export const outputExample: Static<typeof reportOutput> = {
  report_id: "88119435001857",
  accepted: true,
  remote: false,
  published: {
    outcome: "published",
    status: "yes",
    resolution_reason: "published",
    needed: 1,
    have: 1,
    rule: "geolocated",
  },
  fuel: fuelExample,
  duplicate: false,
};
export const queuedExample: Static<typeof reportOutput> = {
  ...outputExample,
  published: {
    ...outputExample.published,
    outcome: "queued",
    needed: null,
    have: null,
    rule: null,
  },
};
