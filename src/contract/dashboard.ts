import type { UsageDay } from "#src/domain/usage.ts";
import type { OffReason, WebhookEvent } from "#src/domain/vocabulary.ts";

// What the dashboard's calls answer: written by api/dashboard/, read by web/dashboard/. Times are ms.

/** Who is signed in, and until when. */
export interface DashboardSession {
  partner: string;
  key: { id: number; prefix: string; label: string };
  expires: number;
  /** Address of the service, for the examples. */
  base_url: string;
}

/** How busy a partner's minutes were, those without a request left out. */
export interface MinuteFigures {
  /** 95 of 100 of these minutes had at most so many requests. */
  p95: number;
  /** Requests of the busiest. */
  peak: number;
  /** How many minutes had requests. */
  minutes: number;
  /** Requests that the minute's or the day's limit refused. */
  refused: number;
}

export interface Overview {
  now: number;
  minute: { limit: number; remaining: number; resets: number };
  today: { date: string; requests: number; limit: number; remaining: number };
  /** Of the partner's servers and of its pages; the newest first, empty days filled in. */
  days: UsageDay[];
  widget: UsageDay[];
  /** Of the last `minute_days` days; null without requests, or while it cannot be told. */
  minutes: MinuteFigures | null;
  minute_days: number;
}

/** How often a call was answered with a problem code. */
export interface CallError {
  method: string;
  /** Empty: from before codes were kept. */
  code: string;
  /** Answers of today and of the period, those to requests that were not counted included. */
  today: number;
  total: number;
  /** Of `total`: requests that a limit or a 403 refused before they were counted. */
  refused: number;
  /** Marks of batches that were refused while the batch was taken, in the period. */
  marks: number;
  /** The last day with one, `YYYY-MM-DD`, UTC. */
  last: string;
}

/** The most frequent of today first, then of the period. */
export interface CallErrors {
  days: number;
  partner: CallError[];
  widget: CallError[];
}

/** One of the last requests; `at`: when it came in. */
export interface ShownRequest {
  at: number;
  /** `GET /stations` */
  call: string;
  status: number;
  /** The problem it was answered with. */
  code: string | null;
  /** First characters of its key. */
  key: string;
  ms: number;
  request_id: string;
}

export interface ShownRequests {
  /** The newest first. */
  requests: ShownRequest[];
  /** So many of each kind are kept. */
  kept: number;
}

/** Requests of an hour and how long their answers took; null without requests. */
export interface ShownHour {
  /** Its beginning. */
  at: number;
  requests: number;
  errors: number;
  median_ms: number | null;
  p95_ms: number | null;
}

/** The newest first, empty hours filled in. */
export interface ShownHours {
  partner: ShownHour[];
  widget: ShownHour[];
}

/** What became of a mark; `rejected` and `withdrawn` are the operator's doing, `failed` a fault of the service. */
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

/** Why a mark waits for the review: the usual check of newcomers, a limit of harmful marks, or a block. */
export const heldReasons = ["mass-no", "source", "city", "block"] as const;
export type HeldReason = (typeof heldReasons)[number];

export interface SentDay {
  /** `YYYY-MM-DD`, UTC. */
  date: string;
  /** Marks that the partner's servers sent, and drivers on its pages. */
  partner: Partial<Record<SentOutcome, number>>;
  widget: Partial<Record<SentOutcome, number>>;
  /** Of those that are held, of both, why. */
  held: Partial<Record<HeldReason, number>>;
}

export interface SentMarks {
  /** The newest first, empty days filled in. */
  days: SentDay[];
  /** Of each key the newest so many are counted. */
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

/** A key that takes the place of this session's: `key` is its text, shown this once. */
export interface RotatedKey {
  id: number;
  key: string;
  /** When the key of this session ends. */
  old_ends: number;
}

export interface ShownLimitRequest {
  id: number;
  status: "pending" | "approved" | "rejected";
  requested_rpm: number;
  requested_daily: number;
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
  message_id: string;
  type: string;
  created: number;
  delivered: number | null;
  attempts: number;
  tried: number | null;
  status: number | null;
  answer: string | null;
  fault: string | null;
  duration_ms: number | null;
}
