import { type Static, Type } from "typebox";
import {
  fuelBlock,
  fuelExample,
  orNull,
  reasons,
  rules,
  servedStatus,
  word,
} from "#src/contract/shapes/fuel.ts";
import { problem } from "#src/contract/shapes/problem.ts";
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
const output = {
  accepted: Type.Boolean({ description: "False only for a mark that came over 24 hours late" }),
  remote: Type.Boolean({ description: "Without geo-confirmation: needs a second user" }),
  published: Type.Object(
    {
      outcome: word(outcomes),
      status: servedStatus,
      resolution_reason: word(reasons),
      needed: orNull(Type.Integer({ minimum: 1, description: "Independent devices needed" })),
      have: orNull(Type.Integer({ minimum: 0, description: "Devices behind the mark's version" })),
      rule: orNull(word(rules, "Why that many are needed")),
    },
    { title: "Outcome", description: "What became of the mark. Nulls while it is queued." },
  ),
  fuel: fuelBlock,
  duplicate: Type.Boolean({ description: "Repeats an earlier mark: no second one was made" }),
};

/** docs/contract.md 2.8 and docs/decisions.md 5. */
export const reportOutput = Type.Object(
  { report_id: reportId, ...output },
  { title: "ReportResult" },
);

export const reportState = Type.Object(
  {
    report_id: reportId,
    station_id: Type.String(),
    state: word(["queued", "processed"]),
    ...output,
  },
  { title: "ReportState" },
);

export const batchResult = Type.Object(
  {
    reports: Type.Array(
      Type.Union([reportOutput, Type.Object({ error: problem }, { title: "ReportError" })]),
      { description: "In the order sent" },
    ),
    count: Type.Integer({ minimum: 0 }),
  },
  { title: "BatchResult" },
);

/** docs/decisions.md 19.5. */
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
