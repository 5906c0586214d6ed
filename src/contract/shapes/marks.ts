import { count, flag, list, named, orNull, text, word } from "#src/contract/shapes/kinds.ts";
import { type Static, Type } from "typebox";
import { fuelBlock, fuelExample, reason, rules, servedStatus } from "#src/contract/shapes/fuel.ts";
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
  description:
    "Of GET /reports/{report_id}; empty after a dry run and for a mark that came over 24 hours late",
});
const stationId = text("`id` of the marked station");
const elements = count("Elements of `reports`");
const output = {
  accepted: flag("False only for a mark that came over 24 hours late"),
  remote: flag("Without geo-confirmation: needs a second user"),
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
      have: orNull(count("Devices behind the mark's version; null while queued")),
      rule: orNull(word(rules, "Why that many are needed; null while queued")),
    },
    { title: "Outcome", description: "What became of the mark. Nulls while it is queued." },
  ),
  fuel: fuelBlock,
  duplicate: flag("Repeats an earlier mark: no second one was made"),
};

/** decisions 3.6. */
const duplicateOf = Type.Object(
  {
    report_id: reportId,
    station_id: stationId,
    status: word(statuses, "What it said"),
    same_body: flag("Whether this body says the same as the first"),
  },
  { title: "DuplicateOf", description: "The first mark with this `external_id`" },
);

/** docs/contract.md 2.8 and decisions 5. */
export const reportOutput = named("ReportResult", {
  report_id: reportId,
  ...output,
  duplicate_of: Type.Optional(duplicateOf),
});

export const reportState = named("ReportState", {
  report_id: reportId,
  station_id: stationId,
  state: word(["queued", "processed"], "Whether the outcome is known"),
  ...output,
});

export const batchResult = named("BatchResult", {
  reports: list(
    "In the order sent",
    Type.Union([
      reportOutput,
      named("ReportError", {
        error: problem,
        retry_after: Type.Optional(
          Type.Integer({ minimum: 1, description: "Seconds to wait, where that helps" }),
        ),
      }),
    ]),
  ),
  count: elements,
});

/** decisions 5.5. */
export const reportStates = named("ReportStates", {
  reports: list(
    "In the order asked for",
    Type.Union([
      reportState,
      named("UnknownReport", { report_id: text("As you asked for it"), error: problem }),
    ]),
  ),
  count: elements,
});

/** decisions 19.5. */
export const erasedPerson = named("Erased", {
  erased: flag("False: nobody of this name is known, or not any more"),
});

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
