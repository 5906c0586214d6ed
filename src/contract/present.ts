import { closureIn } from "#src/domain/closure.ts";
import type { Static } from "typebox";
import type { reportOutput } from "#src/contract/shapes/marks.ts";
import type { FuelBlock } from "#src/domain/state.ts";
import type { Outcome, Reason, Rule, ServedStatus } from "#src/domain/vocabulary.ts";

/** A mark with its outcome (decisions 5), which is null while the mark is queued. */
export interface Report {
  id: number;
  stationId: string;
  /** The partner whose key the mark came through; null while unknown. */
  partnerId: number | null;
  accepted: boolean;
  remote: boolean;
  outcome: Outcome | null;
  status: ServedStatus | null;
  reason: Reason | null;
  needed: number;
  have: number | null;
  rule: Rule;
}

/** A report's output, docs/contract.md 2.8 and decisions 5. */
export type ReportOutput = Static<typeof reportOutput>;
export type DuplicateOf = NonNullable<ReportOutput["duplicate_of"]>;

/** Shows a report with the station's current fuel block; a report without an outcome is `queued`. */
export function presentReport(report: Report, fuel: FuelBlock, duplicate: boolean): ReportOutput {
  const queued = report.outcome === null;
  return {
    report_id: String(report.id),
    accepted: report.accepted,
    remote: report.remote,
    published: {
      outcome: report.outcome ?? "queued",
      status: (queued ? null : report.status) ?? fuel.status,
      resolution_reason: (queued ? null : report.reason) ?? fuel.resolution_reason,
      needed: queued ? null : report.needed,
      have: queued ? null : report.have,
      rule: queued ? null : report.rule,
    },
    fuel,
    duplicate,
  };
}

/** The report as GET /reports/{report_id} and webhooks show it. */
export function presentState(report: Report, fuel: FuelBlock) {
  const { report_id, ...output } = presentReport(report, fuel, false);
  const state = report.outcome === null ? "queued" : "processed";
  return { report_id, station_id: report.stationId, state, ...output };
}

type StationTexts = Record<
  "id" | "brand" | "name" | "addr" | "grades_sold" | "opening_hours",
  string
>;

/** A station as JSON up to the value of `fuel` (docs/contract.md 2.1), which a "}" follows. */
export const stationHead = (
  station: StationTexts & { lat: number; lon: number; closed?: string },
): string => {
  const { id, lat, lon, brand, name, addr, grades_sold, opening_hours, closed = "" } = station;
  const known = {
    ...(grades_sold === "" ? {} : { grades_sold }),
    ...(opening_hours === "" ? {} : { opening_hours }),
    ...(closed === "" ? {} : { closed: closureIn(closed) }),
  };
  return `${JSON.stringify({ id, lat, lon, brand, name, addr, ...known }).slice(0, -1)},"fuel":`;
};
