import type { UsageDay } from "#src/domain/usage.ts";
import type { OffReason, WebhookEvent } from "#src/domain/vocabulary.ts";

// Answers of the dashboard's calls: written by api/dashboard/, read by web/dashboard/. Times are ms.

/** The signed-in partner, its key and the end of the session. */
export interface DashboardSession {
  partner: string;
  key: { id: number; prefix: string; label: string };
  expires: number;
  /** Address of the service, for the examples. */
  base_url: string;
  /** For whom the link is by which the viewer came, who may change nothing; null with the key itself. */
  link: string | null;
}

/** A link that shows the dashboard and changes nothing. */
export interface ShownLink {
  id: number;
  /** For whom it is. */
  label: string;
  /** First characters of the key that made it, with which it ends. */
  prefix: string;
  created: number;
  expires: number;
  /** When it was ended. */
  ended: number | null;
  /** When somebody last looked, to the minute; null: nobody has. */
  seen: number | null;
  over: boolean;
}

/** A new link; `url` is in this answer and nowhere else. */
export interface MadeLink {
  id: number;
  url: string;
  expires: number;
}

/** A partner's requests per minute, over the minutes with requests. */
export interface MinuteFigures {
  /** 95 of 100 of these minutes had at most this many requests. */
  p95: number;
  /** Requests of the busiest minute. */
  peak: number;
  /** Number of minutes with requests. */
  minutes: number;
  /** Requests that the minute's or the day's limit refused. */
  refused: number;
}

/** A day with the requests that were refused before they were counted, so that they are not among its `requests`. */
export interface ShownDay extends UsageDay {
  refused: number;
  /** The part of `refused` that the limits refused; the rest are 403s of the key. */
  limited: number;
}

export interface Overview {
  now: number;
  minute: { limit: number; remaining: number; resets: number };
  today: { date: string; requests: number; limit: number; remaining: number };
  /** Days of the partner's servers and of its pages; the newest first, empty days filled in. */
  days: ShownDay[];
  widget: ShownDay[];
  /** Minutes of the last `minute_days` days; null without requests, and while they are unknown. */
  minutes: MinuteFigures | null;
  minute_days: number;
  /** Open incidents of the service, the newest first. */
  incidents: ShownIncident[];
}

/** An incident in the operator's words: its title and the newest text. `ru` is null when nobody has written it. */
export interface ShownIncident {
  id: number;
  title: { en: string; ru: string | null };
  text: { en: string; ru: string | null };
  since: number;
}

/** Number of answers with a problem code for a call. */
export interface CallError {
  method: string;
  /** Empty for answers before codes were kept. */
  code: string;
  /** Answers of today and of the period, including answers to requests that were not counted. */
  today: number;
  total: number;
  /** The part of `total` that a limit or a 403 refused before it was counted. */
  refused: number;
  /** Marks of batches that were refused while the batch was taken, in the period. */
  marks: number;
  /** The last day with one, `YYYY-MM-DD`, UTC. */
  last: string;
}

/** Sorted by frequency today, then in the period, the highest first. */
export interface CallErrors {
  days: number;
  partner: CallError[];
  widget: CallError[];
}

/** One of the last requests; `at` is its time of arrival. */
export interface ShownRequest {
  at: number;
  /** `GET /stations` */
  call: string;
  status: number;
  /** The problem code of its answer. */
  code: string | null;
  /** First characters of its key. */
  key: string;
  ms: number;
  request_id: string;
}

export interface ShownRequests {
  /** The newest first. */
  requests: ShownRequest[];
  /** Number of requests of each kind that are kept. */
  kept: number;
}

/** Requests of an hour and the durations of their answers; null without requests. */
export interface ShownHour {
  /** Its beginning. */
  at: number;
  requests: number;
  errors: number;
  /** Refused before they were counted, so not among `requests`. */
  refused: number;
  median_ms: number | null;
  p95_ms: number | null;
}

/** The newest first, empty hours filled in. */
export interface ShownHours {
  partner: ShownHour[];
  widget: ShownHour[];
}

/** The outcomes of marks; `rejected` and `withdrawn` come from the operator, `failed` from a fault of the service. */
export const sentOutcomes = [
  "published",
  "confirmed",
  "pending",
  "conflict",
  "superseded",
  "expired",
  "queued",
  "held",
  "rejected",
  "withdrawn",
  "failed",
] as const;
export type SentOutcome = (typeof sentOutcomes)[number];

/** The reasons for a review of a mark: the usual check of newcomers, a limit of harmful marks, or a block. */
export const heldReasons = ["mass-no", "source", "city", "block"] as const;
export type HeldReason = (typeof heldReasons)[number];

export interface SentDay {
  /** `YYYY-MM-DD`, UTC. */
  date: string;
  /** Marks from the partner's servers, and from drivers on its pages. */
  partner: Partial<Record<SentOutcome, number>>;
  widget: Partial<Record<SentOutcome, number>>;
  /** The held marks of both, by reason. */
  held: Partial<Record<HeldReason, number>>;
}

export interface SentMarks {
  /** The newest first, empty days filled in. */
  days: SentDay[];
  /** At most this number of each key's newest marks is counted. */
  counted_max: number;
}

export type KeyState = "in force" | "expired" | "revoked";

export interface ShownKey {
  id: number;
  kind: "secret" | "publishable";
  prefix: string;
  label: string;
  state: KeyState;
  domains: string[];
  ips: string[];
  reports: boolean;
  created: number;
  expires: number | null;
  revoked: number | null;
  last_used: number | null;
  /** The key of this session. */
  current: boolean;
}

/** A key that replaces this session's key; `key` is its text, which is shown only once. */
export interface RotatedKey {
  id: number;
  key: string;
  /** The time at which the key of this session ends. */
  old_ends: number;
}

export interface ShownLimitRequest {
  id: number;
  /** `withdrawn`: by the partner; `decided` is then the time of it. */
  status: "pending" | "approved" | "rejected" | "withdrawn";
  requested_rpm: number;
  requested_daily: number;
  /** The approved limits; null without an approval, and for approvals of old. */
  granted_rpm: number | null;
  granted_daily: number | null;
  comment: string;
  created: number;
  decided: number | null;
  decision_comment: string;
}

export interface ShownWebhook {
  id: number;
  url: string;
  events: WebhookEvent[];
  description: string;
  enabled: boolean;
  off: number | null;
  off_reason: OffReason | null;
  failing_since: number | null;
  /** Deliveries that are not taken yet. */
  waiting: number;
  old_secret_until: number | null;
  created: number;
}

export interface ShownDelivery {
  id: number;
  /** `webhook-id`: the same when it is sent again. */
  message_id: string;
  type: string;
  created: number;
  delivered: number | null;
  attempts: number;
  tried: number | null;
  /** Null without an answer; `fault` has the reason. */
  status: number | null;
  answer: string | null;
  fault: string | null;
  duration_ms: number | null;
  /** Its subject, as JSON, at most 2000 characters: ids of stations or marks, or the event itself. */
  contents: string;
}
