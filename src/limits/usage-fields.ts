import type { Audience, ErrorCount, HourCount, UsageCount } from "#src/domain/usage.ts";

/** The counts of a day's usage, kept in the fields of a hash in Redis. */
export interface DayOfUsage {
  counts: UsageCount[];
  errors: ErrorCount[];
  hours: HourCount[];
}

/** Names of the fields. `label` is that of a request, `GET /x`: its own field counts the requests. */
export const usageField = {
  notModified: (label: string): string => `${label}|not_modified`,
  /** `errors` of counted requests, `refused` before they were counted, `marks` of a batch. */
  problem: (label: string, what: "errors" | "refused" | "marks", code: string): string =>
    `${label}|${what}|${code}`,
  /** Requests of an hour of the day whose duration was in a bucket of `bucketOf`. */
  hour: (hour: number, bucket: number, isError: boolean): string =>
    `|hours|${hour}|${bucket}${isError ? "|errors" : ""}`,
  /** Requests of an hour of the day that were refused before they were counted. */
  refusedHour: (hour: number): string => `|refused_hours|${hour}`,
};

/** Reads the fields of a day (days since the epoch). Those of an unknown kind are left out. */
export function readUsageFields(
  fields: Record<string, string>,
  audience: Audience,
  day: number,
): DayOfUsage {
  const counts = new Map<string, UsageCount>();
  const errors = new Map<string, ErrorCount>();
  const hours = new Map<string, HourCount>();
  const of = <T>(all: Map<string, T>, name: string, none: T): T => {
    const known = all.get(name) ?? none;
    all.set(name, known);
    return known;
  };
  const countOf = (method: string): UsageCount =>
    of(counts, method, { day, audience, method, requests: 0, notModified: 0, errors: 0 });
  const errorOf = (method: string, code: string): ErrorCount =>
    of(errors, `${method}|${code}`, {
      ...{ day, audience, method, code },
      ...{ counted: 0, refused: 0, marks: 0 },
    });
  const hourOf = (hour = "", bucket = ""): HourCount =>
    of(hours, `${hour} ${bucket}`, {
      ...{ hour: 24 * day + Number(hour), audience, bucket: Number(bucket) },
      ...{ requests: 0, errors: 0, refused: 0 },
    });
  for (const [field, text] of Object.entries(fields)) {
    const n = Number(text);
    const [method = "", what, detail, bucket, isError] = field.split("|");
    if (what === undefined) countOf(method).requests += n;
    else if (what === "not_modified") countOf(method).notModified += n;
    else if (what === "errors") {
      countOf(method).errors += n;
      // A process of an older version notes no code.
      if (detail !== undefined) errorOf(method, detail).counted += n;
    } else if (what === "refused" && detail !== undefined) errorOf(method, detail).refused += n;
    else if (what === "marks" && detail !== undefined) errorOf(method, detail).marks += n;
    else if (what === "refused_hours") hourOf(detail, "0").refused += n;
    else if (what === "hours") {
      const hour = hourOf(detail, bucket);
      hour.requests += n;
      if (isError !== undefined) hour.errors += n;
    }
  }
  return { counts: [...counts.values()], errors: [...errors.values()], hours: [...hours.values()] };
}
