import type {
  MinuteFigures,
  ShownKey,
  ShownLimitRequest,
  ShownWebhook,
} from "#src/contract/dashboard.ts";
import type { Step } from "#src/domain/explain.ts";
import type { Point } from "#src/domain/geo.ts";
import type { Feed } from "#src/domain/service-state.ts";
import type { FuelBlock } from "#src/domain/state.ts";
import type { Outcome, Rule, Status } from "#src/domain/vocabulary.ts";

// What the console's server and its pages tell each other. Times are ms since the epoch, null for never.

/** Who is signed in to the console. */
export interface ConsoleAccount {
  id: number;
  name: string;
  role: "viewer" | "operator";
}

export interface ConsoleSession {
  id: number;
  account: string;
  role: ConsoleAccount["role"];
  created: number;
  expires: number;
  last_seen: number;
  address: string;
  agent: string;
  /** The session that asks. */
  current: boolean;
}

export interface ConsolePartner {
  id: number;
  name: string;
  rpm: number;
  daily: number;
  enabled: boolean;
  bind_ips: boolean;
  accept_remote: boolean;
  /** Seconds that rectangles may be cached; null for the default. */
  cache_ttl_s: number | null;
  /** New users in a day; null for the default. */
  new_users_daily: number | null;
  /** The end of a launch, ms, and what holds until then. */
  launch_until: number | null;
  launch_new_users: number | null;
  launch_limit: number | null;
  created: number;
  secret_keys: number;
  publishable_keys: number;
  /** Requests of this UTC day and of the busiest of the last 7, of its servers, as far as they are durable. */
  used_today: number;
  used_peak: number;
  held: number;
  pending_request: boolean;
}

export interface ConsoleKey extends Omit<ShownKey, "state" | "current"> {
  partner_id: number;
  confirm_min: number;
  mass_no_limit: number;
  /** What holds in its place until a time, ms. */
  limited_to: number | null;
  limited_until: number | null;
}

/** One UTC day of a partner's requests. */
export interface ConsoleUsageDay {
  /** `YYYY-MM-DD`. */
  date: string;
  requests: number;
  not_modified: number;
  errors: number;
  widget: number;
}

export interface ConsoleLimitRequest extends ShownLimitRequest {
  partner_id: number;
  partner: string;
  /** The partner's limits now. */
  rpm: number;
  daily: number;
  /** The last 14 UTC days, the newest first. */
  days: ConsoleUsageDay[];
  /** Of those days, while it is pending; null without requests, and while Redis is away. */
  minutes: MinuteFigures | null;
}

/** What the same reporter has done in the last days. Nobody learns who it is: only its row's number. */
export interface ConsoleReporter {
  id: number;
  first_seen: number | null;
  /** Marks of the last 7 days, and how many of them said what. */
  marks: number;
  said: Record<Status, number>;
  stations: number;
  held: number;
  rejected: number;
}

interface MarkFacts {
  id: number;
  status: Status;
  received: number;
  effective: number;
  source: "partner" | "widget" | "demo";
  partner_id: number | null;
  key_id: number | null;
  remote: boolean;
  comment: string | null;
}

export interface ConsoleHeldMark extends MarkFacts {
  station_id: string;
  station: string;
  station_lat: number;
  station_lon: number;
  served: string;
  lat: number | null;
  lon: number | null;
  acc_m: number | null;
  partner: string | null;
  /** The first digits of the viewer's network's hash; null for partners' marks. */
  network: string | null;
  /** Newcomers' `no` marks through the same key within the review's window, and from how many reporters. */
  source_no: number;
  source_reporters: number;
  reporter: ConsoleReporter;
}

export interface ConsoleStation {
  id: string;
  name: string;
  brand: string;
  addr: string;
  lat: number;
  lon: number;
  status: string;
  removed: boolean;
}

/** A mark on a station's page, counted or not. */
export interface ConsoleMark extends MarkFacts {
  reporter_id: number;
  needed: number;
  rule: Rule;
  express: boolean;
  review: "none" | "held" | "approved" | "rejected" | "withdrawn" | "expired";
  /** Null while no worker has come to it. */
  outcome: Outcome | null;
  have: number | null;
  failure: string | null;
  /** Metres from the station; null without a position. */
  distance_m: number | null;
}

/** What the imports say where an operator has set a station's field by hand; null where nobody has. */
export interface HandSet {
  name: string | null;
  brand: string | null;
  addr: string | null;
  position: Point | null;
  /** False: closed by hand. True: kept in service by hand. Null: as the imports say. */
  in_service: boolean | null;
}

export interface ConsoleStationPage {
  station: ConsoleStation & { source: string };
  by_hand: HandSet;
  fuel: FuelBlock;
  /** The steps that led here, the oldest first, and at least how many older ones are left out. */
  steps: Step[];
  steps_before: number;
  /** The steps are worked out from the newest marks only: older ones were not read. */
  history_cut: boolean;
  marks: ConsoleMark[];
  /** Give it as `before` to see older marks; null when there are none. */
  next: number | null;
}

/** What there is to choose from where marks are selected. */
export interface ConsoleChoices {
  partners: { id: number; name: string }[];
  keys: { id: number; partner_id: number; label: string; prefix: string }[];
  /** Their names, in alphabetical order. */
  cities: string[];
}

/** A viewers' network, by the beginning of its hash, and why the console knows it. */
export interface ConsoleNetwork {
  network: string;
  held: number;
  /** The last alarm that names it, and until when it is blocked, ms. */
  alarm: number | null;
  blocked: number | null;
}

export interface ConsoleRollbackChange {
  station_id: string;
  /** Name, brand and address of the station. */
  station: string;
  /** Where it stands; null when nothing is known of it but its marks. */
  lat: number | null;
  lon: number | null;
  /** How many of its marks the decision is about. */
  marks: number;
  before: FuelBlock;
  after: FuelBlock;
}

/** What a rollback, or the approval of held marks, would change. */
export interface ConsoleRollback {
  marks: number;
  held: number;
  reporters: number;
  /** Marks of reporters who were known for ESTABLISHED_MS when they sent them. */
  established: number;
  stations: number;
  /** Of so many stations, those with the most marks, it was worked out; changed ones come first in `changes`. */
  worked_out: number;
  changes: ConsoleRollbackChange[];
}

/** Held marks of one source, in one city, received in one hour. */
export interface ConsoleHeldGroup {
  /** The beginning of the hour, ms. */
  hour: number;
  /** The key of a partner, or the network of viewers of the map: one of the two is null. */
  key_id: number | null;
  network: string | null;
  partner: string | null;
  city: string;
  marks: number;
  stations: number;
  reporters: number;
  said: Record<Status, number>;
  /** Marks of others at these stations at about that time. */
  agree: number;
  disagree: number;
  /** What a decision about the group takes, as it is sent. */
  selection: object;
}

/** A decision about many marks: when and by whom it was made and taken back, times in ms. */
export interface ConsoleBatchLine {
  id: number;
  act: "rollback" | "approve" | "reject";
  actor: string;
  /** The conditions by their names; times in ms. */
  selection: object;
  marks: number;
  stations: number;
  stations_done: number;
  started: number;
  /** Null while it is being done, and after it was broken off. */
  finished: number | null;
  undo_actor: string | null;
  /** When somebody began to take it back, and when that was done. */
  undo: number | null;
  undone: number | null;
}

export interface ConsoleBatch extends ConsoleBatchLine {
  /** Stations that a worker still has to calculate again. */
  waiting: number;
  worked_out: number;
  /** Stations without the decision (`before`) and with it (`after`), as of now; none when it was taken back. */
  changes: ConsoleRollbackChange[];
}

export interface ConsoleLogEntry {
  id: number;
  at: number;
  actor: string;
  action: string;
  subject: string;
  details: Record<string, unknown>;
}

export interface ConsoleQueue {
  queue: string;
  depth: number;
  oldest_age_s: number | null;
  active: number;
  failed: number;
}

export interface ConsoleHealth {
  ready: boolean;
  degraded: string[];
  checks: Record<string, { ok: boolean; detail?: unknown }>;
  /** Null while Postgres is away. */
  marks: {
    unprocessed: number;
    oldest_s: number | null;
    failed: number;
    refolds: number;
    last_hour: number;
    held: number;
    pending_requests: number;
    stations: number;
  } | null;
  /** Null while Redis is away. */
  queues: ConsoleQueue[] | null;
  /** What the map draws under the stations; `missing`: the file that BASEMAP names cannot be read. */
  basemap: "bundled" | "own" | "missing";
}

/** What an operator has to look at; open until it is acknowledged. */
export interface ConsoleAlarm {
  id: number;
  kind: string;
  /** In a few words, what it means, and the page of the console that helps. */
  title: string;
  meaning: string;
  page: string;
  subject: string;
  city: string;
  count: number;
  details: Record<string, string | number>;
  raised: number;
  last: number;
}

export interface ConsoleAlarms {
  /** Open ones, the newest first, and how many there are. */
  alarms: ConsoleAlarm[];
  total: number;
  /** How alarms reach the operator: the ways that are set up, and what is wrong with one. */
  channels: { channel: string; failures: number; fault: string | null; sent: number | null }[];
  /** Null while Postgres is away. */
  figures: {
    held: Record<string, number>;
    harmful: { from: string; to: string; source_kind: string; count: number }[];
    busiest_source_share: number;
  } | null;
}

/** A text for everybody, and in Russian where somebody has written it. */
export interface ConsolePublicText {
  en: string;
  ru: string | null;
}

/** What `/status` tells everybody of. Times in ms. */
export interface ConsoleIncident {
  id: number;
  title: ConsolePublicText;
  /** What it touches; empty for all. */
  feeds: Feed[];
  opened: number;
  closed: number | null;
  /** The oldest first; never empty. */
  updates: { at: number; text: ConsolePublicText }[];
}

export interface ConsoleIncidents {
  /** Open ones, and closed ones of the last `days` days. */
  incidents: ConsoleIncident[];
  days: number;
}

/** A webhook of a partner's. */
export type ConsoleWebhook = ShownWebhook & { partner_id: number };

export interface ConsoleFailedMark {
  id: number;
  station_id: string;
  status: Status;
  received: number;
  failed: number;
  failure: string;
}

export const importKinds = ["stations", "cities", "statuses"] as const;

/** An import that was started in the console. */
export interface ConsoleImport {
  id: number;
  kind: (typeof importKinds)[number];
  file: string;
  source: string | null;
  replace_source: boolean;
  dry_run: boolean;
  actor: string;
  /** `interrupted`: its process has died; the same import again does the rest. */
  state: "running" | "done" | "refused" | "failed" | "interrupted";
  step: string;
  /** Bytes of the file, then rows; `total` null while it is not known. */
  done: number;
  total: number | null;
  /** What it did: numbers by their names, and why rows were refused. */
  summary: Record<string, unknown> | null;
  /** Why it was refused or has failed. */
  fault: string | null;
  started: number;
  finished: number | null;
}

/** What somebody who types in the console's palette may look for; each list is short (decisions 13.19). */
export interface ConsoleHits {
  partners: { id: number; name: string }[];
  keys: {
    id: number;
    partner_id: number;
    partner: string;
    prefix: string;
    label: string;
    revoked: boolean;
  }[];
  stations: Pick<ConsoleStation, "id" | "name" | "brand" | "addr" | "removed">[];
}
