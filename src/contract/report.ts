import { named } from "#src/contract/shapes/kinds.ts";
import { type Static, type TSchema, Type } from "typebox";
import { type Refusal, refuse } from "#src/contract/refusals.ts";
import type { Statement } from "#src/domain/state.ts";
import { parseTime } from "#src/domain/time.ts";
import {
  type Grade,
  grades,
  parseGrade,
  queues,
  type Queue,
  statuses,
} from "#src/domain/vocabulary.ts";
import { minuteMs } from "#src/domain/units.ts";

/** Null is the same as absent (decisions 2). The description is that of the choice: there readers look for it. */
const optional = <T extends TSchema>(schema: T, description: string) =>
  Type.Optional(Type.Union([schema, Type.Null()], { description }));
// The type is given explicitly, because the type derived from a mapped list would be never.
const literals = <const T extends readonly string[]>(values: T, options = {}) =>
  Type.Unsafe<T[number]>(
    Type.Union(
      values.map((value) => Type.Literal(value)),
      options,
    ),
  );

const allowed = `${grades.join(", ")} (also dt, дизель for ДТ)`;
const gradeNames = `Grades: ${allowed}`;

/** The fields of every mark: docs/contract.md 2.7 without the user. */
export const statementFields = {
  status: literals(statuses, { description: "What the user saw of the fuel" }),
  lat: optional(
    Type.Number({ minimum: -90, maximum: 90 }),
    "Latitude where the user was, degrees; with `lon` the mark counts as made at the station, if it was",
  ),
  lon: optional(
    Type.Number({ minimum: -180, maximum: 180 }),
    "Longitude where the user was, degrees; only together with `lat`",
  ),
  acc_m: optional(
    Type.Number({ minimum: 0 }),
    "Accuracy of the position, metres; above 1000 it does not count as being at the station",
  ),
  fuels: optional(
    Type.Array(Type.String({ description: gradeNames })),
    `Grades that the user saw there. ${gradeNames}`,
  ),
  fuels_no: optional(
    Type.Array(Type.String({ description: gradeNames })),
    `Grades that were out. ${gradeNames}`,
  ),
  queue: optional(literals(queues), "How long the queue was"),
  // Not a Record: its pattern would let a name with a line break pass unchecked.
  prices: optional(
    Type.Unsafe<Record<string, number>>(
      Type.Object(
        {},
        {
          additionalProperties: Type.Number({ exclusiveMinimum: 0, maximum: 1000 }),
        },
      ),
    ),
    `Price of a litre by grade; two decimals are kept. ${gradeNames}`,
  ),
  limit_l: optional(
    Type.Integer({ minimum: 1, maximum: 10_000 }),
    "Litres that a person gets at most; null: no limit was said",
  ),
  no_cash: optional(Type.Boolean(), "True: cash was not taken"),
  fuel_cards_only: optional(Type.Boolean(), "True: only fuel cards were taken"),
  text: optional(
    Type.String({ maxLength: 200 }),
    "A comment for the operator, up to 200 characters; drivers do not see it",
  ),
  observed_at: optional(
    Type.String({ maxLength: 100 }),
    "When it was seen, if delivered late: UTC, YYYY-MM-DD HH:MM:SS or ISO 8601",
  ),
  express: optional(
    Type.Boolean(),
    "True: fuel ran out right now; the station may be marked again after 2 minutes in place of 20",
  ),
};

export type StatementBody = Static<ReturnType<typeof Type.Object<typeof statementFields>>>;

/** Longest `user_ref`, in characters. */
export const userRefMax = 128;

/** Body of `POST /stations/{id}/report`, docs/contract.md 2.7. Unknown fields are ignored. */
export const reportBody = named("Report", {
  ...statementFields,
  user_ref: Type.String({
    minLength: 1,
    maxLength: userRefMax,
    description: "Stable per user; only a keyed hash of it is stored",
  }),
  external_id: optional(
    Type.String({ minLength: 1, maxLength: 128 }),
    "Your id of the mark; with it a retry is safe",
  ),
});

export type ReportBody = Static<typeof reportBody>;

/** Stays on the device and names nobody; only its keyed hash is kept. */
export const device = Type.String({
  minLength: 1,
  maxLength: 128,
  description: "Id of the viewer's device, made by it; only a keyed hash of it is stored",
});

/** Unique within the device: decisions 15.21. */
const deviceMarkId = optional(
  Type.String({ minLength: 1, maxLength: 128 }),
  "The device's id of the mark; with it a retry within a day is safe",
);

/** Body of `POST /widget/stations/{id}/report`, decisions 6. */
export const widgetReportBody = named("WidgetReport", {
  ...statementFields,
  device,
  external_id: deviceMarkId,
});

/** Body of `POST /widget/stations/{id}/confirm`: the pending status that the driver saw, decisions 6. */
export const confirmBody = named("WidgetConfirmation", {
  status: statementFields.status,
  lat: statementFields.lat,
  lon: statementFields.lon,
  acc_m: statementFields.acc_m,
  device,
  external_id: deviceMarkId,
});

/** Body of `POST /widget/stations/{id}/take-back`, decisions 15.35. */
export const takeBackBody = named("WidgetTakeBack", { device });

/** Body of `POST /widget/forget`, decisions 19.5. */
export const forgetBody = named("WidgetForget", { device });

/** One mark of `POST /reports`, decisions 5. */
export const batchItem = named("BatchReport", {
  station_id: Type.String({ description: "The station's id" }),
  ...reportBody.properties,
});
export type BatchItem = Static<typeof batchItem>;

/** Its body: each mark is checked by itself, so that a bad one does not take the others along. */
export const batchBody = named("Batch", {
  reports: Type.Array(Type.Unknown({ documentedAs: batchItem }), {
    ...{ minItems: 1, maxItems: 500 },
    description: "Marks; each is checked by itself",
  }),
});

/** A report's content in the domain's words. */
export interface ParsedReport extends Statement {
  status: ReportBody["status"];
  lat: number | null;
  lon: number | null;
  accM: number | null;
  comment: string | null;
  observedAt: number | null;
  express: boolean;
}

/**
 * Checks beyond the schema (decisions 3): grades and their aliases, both coordinates or none, a readable time not more
 * than `observedAheadMs` ahead of `now`. Prices are kept with two decimals.
 */
export function parseReport(
  body: StatementBody,
  now: number,
  observedAheadMs: number,
): ParsedReport | Refusal {
  if ((body.lat == null) !== (body.lon == null))
    return invalid([body.lat == null ? "lat" : "lon"], "lat and lon go together", "missing");
  const fuels = body.fuels ?? [];
  const fuelsNo = body.fuels_no ?? [];
  const prices = Object.entries(body.prices ?? {});
  const unknown =
    unknownIn("fuels", fuels) ??
    unknownIn("fuels_no", fuelsNo) ??
    unknownIn(
      "prices",
      prices.map(([name]) => name),
    );
  if (unknown !== null) return unknown;
  const priced = prices.map(
    ([name, price]) => [parseGrade(name)!, Math.round(price * 100) / 100, name] as const,
  );
  const repeated =
    firstRepeated([
      ...fuels.map((name, i) => ({ name, path: ["fuels", i] })),
      ...fuelsNo.map((name, i) => ({ name, path: ["fuels_no", i] })),
    ]) ?? firstRepeated(prices.map(([name]) => ({ name, path: ["prices", name] })));
  if (repeated !== null) return repeated;
  const tooSmall = priced.find(([, price]) => price === 0);
  if (tooSmall !== undefined)
    return invalid(["prices", tooSmall[2]], "Price should be at least 0.01", "greater_than");
  const observedAt = body.observed_at == null ? null : parseTime(body.observed_at);
  if (body.observed_at != null && observedAt === null) {
    return refuse(
      "bad-timestamp",
      "observed_at should be a UTC time like 2026-01-31 18:05:00 or 2026-01-31T18:05:00Z.",
    );
  }
  if (observedAt !== null && observedAt > now + observedAheadMs) {
    return refuse(
      "bad-timestamp",
      `observed_at is more than ${observedAheadMs / minuteMs} minutes ahead of the server's clock. Send the UTC time of the mark.`,
    );
  }
  return {
    status: body.status,
    lat: body.lat ?? null,
    lon: body.lon ?? null,
    accM: body.acc_m ?? null,
    comment: body.text ?? null,
    observedAt,
    express: body.express ?? false,
    fuels: gradesOf(fuels),
    fuelsNo: gradesOf(fuelsNo),
    queue: (body.queue ?? null) as Queue | null,
    prices:
      priced.length > 0 ? Object.fromEntries(priced.map(([grade, price]) => [grade, price])) : null,
    // Null is a statement here: no limit.
    limitL: body.limit_l,
    noCash: body.no_cash ?? null,
    fuelCardsOnly: body.fuel_cards_only ?? null,
  };
}

const gradesOf = (names: readonly string[]): Grade[] | null =>
  names.length > 0 ? names.map((name) => parseGrade(name)!) : null;

function unknownIn(field: string, names: readonly string[]): Refusal | null {
  const name = names.find((one) => parseGrade(one) === undefined);
  return name === undefined ? null : refuseGrade(name, field);
}

/** The refusal of an unknown grade in `field`. */
export const refuseGrade = (name: string, field: string): Refusal =>
  refuse(
    "bad-grade",
    `Unknown fuel grade "${name.slice(0, 40)}" in ${field}. Allowed: ${allowed}.`,
  );

function firstRepeated(list: readonly { name: string; path: JsonPath }[]): Refusal | null {
  const seen = new Set<Grade>();
  for (const { name, path } of list) {
    const grade = parseGrade(name)!;
    if (seen.has(grade))
      return invalid(path, `Grade ${grade} is named more than once`, "value_error");
    seen.add(grade);
  }
  return null;
}

/** The way to a field of the body. */
type JsonPath = (string | number)[];

const invalid = (path: JsonPath, msg: string, type: string): Refusal =>
  refuse("validation-failed", [{ loc: ["body", ...path], msg, type }]);

const on: readonly string[] = ["1", "true"];
const off: readonly string[] = ["0", "false"];

/** The values of `X-Dry-Run` (decisions 3.19). */
export const dryRunValues = [...on, ...off];

/** True when the header asks for a dry run. `readDryRun` refuses bad values. */
export const asksDryRun = (headers: Readonly<Record<string, unknown>>): boolean =>
  on.includes(headers["x-dry-run"] as string);

/** Reads the value of `X-Dry-Run`; undefined when the header is absent. */
export function readDryRun(value: string | string[] | undefined): { dry: boolean } | Refusal {
  // Node joins repeated lines by commas.
  const text = String(value ?? "0");
  if (on.includes(text)) return { dry: true };
  if (off.includes(text)) return { dry: false };
  const msg = `Use one of ${dryRunValues.join(", ")}`;
  const fault = { loc: ["header", "X-Dry-Run"], msg, type: "enum", input: text.slice(0, 100) };
  return refuse("validation-failed", [fault]);
}

/**
 * Reads a `Prefer` header (RFC 7240): `respond-async` does not wait, `wait=N` waits N seconds, at most `longestMs`;
 * without it the wait is `usualMs`. Unknown preferences are ignored, as the RFC says; the first of repeated ones
 * counts. `applied` is the value to echo.
 */
export function readPrefer(
  header: string | undefined,
  longestMs: number,
  usualMs = longestMs,
): { waitMs: number; applied: string | null } {
  const parts = (header ?? "").split(",").map((part) => part.split(";")[0]!.trim().toLowerCase());
  if (parts.includes("respond-async")) return { waitMs: 0, applied: "respond-async" };
  const waits = parts.flatMap((part) => /^wait\s*=\s*"?(\d{1,9})"?$/.exec(part)?.[1] ?? []);
  if (waits[0] === undefined) return { waitMs: usualMs, applied: null };
  const waitS = Number(waits[0]);
  if (waitS * 1000 > longestMs) return { waitMs: longestMs, applied: null };
  return { waitMs: waitS * 1000, applied: `wait=${waitS}` };
}
