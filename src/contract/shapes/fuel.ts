import {
  between,
  count,
  flag,
  orNull,
  part,
  text,
  time,
  word,
} from "#src/contract/shapes/kinds.ts";
import { Type } from "typebox";
import type { FuelBlock } from "#src/domain/state.ts";
import type { Reason, Rule } from "#src/domain/vocabulary.ts";
import { chanceStep } from "#src/domain/chance/level.ts";
import { grades, queues, servedStatuses, statuses } from "#src/domain/vocabulary.ts";

const reasons = ["published", "unconfirmed", "conflict", "no_data"] as const satisfies Reason[];
export const rules = [
  "key-threshold",
  "remote",
  "no-nearby-marks",
  "caution",
  "geolocated",
] as const satisfies Rule[];

export const servedStatus = word(servedStatuses, "`nodata`: never set, or older than 24 hours");
export const reason = word(
  reasons,
  "Why the status is as it is: confirmed; marked otherwise by too few; disputed; not known",
);
const grade = `(${grades.join("|")})`;
const gradeList = (description: string) =>
  text(description, { pattern: `^(${grade}(,${grade})*)?$` });
const price = `${grade}=\\d+\\.\\d{2}`;

/** The fuel status block as it is served, docs/contract.md 2.2. */
export const fuelBlock = Type.Object(
  {
    chance: Type.Optional(
      Type.Integer({
        ...{ minimum: 0, maximum: 100, multipleOf: chanceStep },
        description:
          "How likely the station has fuel now, percent in steps of 5; absent while unknown",
      }),
    ),
    status: servedStatus,
    fuels_now: gradeList("Grades available, comma-separated"),
    fuels_no: gradeList("Grades not available, comma-separated"),
    prices: Type.Optional(
      text("`grade=price per litre`, comma-separated; absent without fresh prices", {
        pattern: `^${price}(,${price})*$`,
      }),
    ),
    queue: word(["", ...queues], "Length of the queue in cars"),
    limit_l: orNull(between("Litres that a person may buy; null: no limit", 1, 10_000)),
    no_cash: flag("Cash is not accepted"),
    fuel_cards_only: flag("Only fuel cards are accepted"),
    confirmations: count("Drivers behind the status"),
    real_count: count("Independent live devices behind the status"),
    seeded: flag("Rests on imported data alone, not on marks"),
    updated: time("UTC; empty when never set", ""),
    pending_status: word(["", ...statuses], "Marked, but not confirmed enough yet"),
    pending_count: count("Devices behind the pending status"),
    resolution_reason: reason,
    conflict: orNull(
      part("Both disputed versions; null without a dispute", {
        versions: Type.Array(
          Type.Object({
            status: word(statuses, "What this side says"),
            count: count("Devices on this side"),
            updated: time("UTC; when this side was last confirmed"),
          }),
          { minItems: 2, maxItems: 2, description: "The served one first" },
        ),
      }),
    ),
  },
  { title: "FuelBlock", description: "A station's current fuel status." },
);

/** The same in GeoJSON and lines of JSON (decisions 17.8). */
export const exportedFuel = Type.Object(
  { ...fuelBlock.properties, updated: orNull(time("UTC; null when never set")) },
  { title: "ExportedFuelBlock", description: "A station's current fuel status." },
);

export const fuelExample: FuelBlock = {
  chance: 90,
  status: "yes",
  fuels_now: "92,95",
  fuels_no: "ДТ",
  prices: "92=58.10,95=62.50",
  queue: "0-5",
  limit_l: 40,
  no_cash: false,
  fuel_cards_only: false,
  confirmations: 3,
  real_count: 2,
  seeded: false,
  updated: "2026-01-31 17:58:04",
  pending_status: "",
  pending_count: 0,
  resolution_reason: "published",
  conflict: null,
};
