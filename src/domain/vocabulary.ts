/** The words of docs/contract.md 2.2 and 2.7, in the order in which they are served. */
export const statuses = ["yes", "low", "no", "queue"] as const;
export type Status = (typeof statuses)[number];
export const servedStatuses = [...statuses, "nodata"] as const;
export type ServedStatus = (typeof servedStatuses)[number];

export const grades = ["92", "95", "98", "100", "ДТ"] as const;
export type Grade = (typeof grades)[number];

export const queues = ["0-5", "5-10", "10-20", "20+"] as const;
export type Queue = (typeof queues)[number];

export type Reason = "published" | "unconfirmed" | "conflict" | "no_data";
export type Rule = "key-threshold" | "remote" | "no-nearby-marks" | "caution" | "geolocated";
export type Outcome =
  | "published"
  | "confirmed"
  | "pending"
  | "conflict"
  | "superseded"
  | "held"
  | "expired";

const gradeByName = new Map<string, Grade>(grades.map((grade) => [grade.toLowerCase(), grade]));
gradeByName.set("dt", "ДТ").set("дизель", "ДТ");

/** The grade that `text` names, aliases in any case included; undefined for an unknown one. */
export const parseGrade = (text: string): Grade | undefined =>
  gradeByName.get(text.trim().toLowerCase());

/** The two sides of a dispute: {yes, low, queue} against {no}. */
export const family = (status: Status): "has" | "has-not" => (status === "no" ? "has-not" : "has");

/** The events that webhooks tell a partner. */
export const webhookEvents = [
  "stations.changed",
  "report.processed",
  "limit_request.decided",
  "key.expiring",
] as const;
export type WebhookEvent = (typeof webhookEvents)[number];

/** Sent when the partner asks for it, whatever events the webhook has chosen. */
export const testEvent = "webhook.test";

/** The cause of a webhook's end: a person, three days of failures (`failing`), or an answer 410 (`gone`). */
export const offReasons = ["partner", "operator", "failing", "gone"] as const;
export type OffReason = (typeof offReasons)[number];

/** The grades of a station as it is stored and served: each once, in the contract's order, "92,95,ДТ"; "" for none. */
export const gradesText = (sold: readonly Grade[]): string =>
  grades.filter((grade) => sold.includes(grade)).join();

/** The grades of such a text. */
export const gradesIn = (text: string): Grade[] =>
  text.split(",").flatMap((name) => parseGrade(name) ?? []);

/** The same text of a list that a person has written ("95, dt"); null when it names something else than grades. */
export function readGrades(list: string): string | null {
  const names = list.split(",").filter((name) => name.trim() !== "");
  const found = gradesIn(names.join());
  return found.length === names.length ? gradesText(found) : null;
}

/** The facts of a station whose sales and hours are unknown. */
export const noSales = { grades_sold: "", opening_hours: "" } as const;

/** One bit for each grade, the lowest for the first one of the contract. */
export const gradeBits = (sold: readonly Grade[]): number =>
  sold.reduce((bits, grade) => bits | (1 << grades.indexOf(grade)), 0);
