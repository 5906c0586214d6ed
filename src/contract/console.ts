import type { MarkFacts } from "#src/contract/console-review.ts";
import type {
  MinuteFigures,
  ShownKey,
  ShownLimitRequest,
  ShownWebhook,
} from "#src/contract/dashboard.ts";
import type { Sentence } from "#src/contract/sentences.ts";
import type { Step } from "#src/domain/explain.ts";
import type { Point } from "#src/domain/geo.ts";
import type { Feed } from "#src/domain/service-state.ts";
import type { FuelBlock } from "#src/domain/state.ts";
import type { SuggestionKind } from "#src/domain/suggestion.ts";
import type { UsageDay } from "#src/domain/usage.ts";
import type { Outcome, Rule } from "#src/domain/vocabulary.ts";

// Messages between the console's server and its pages. Times are ms since the epoch, null for never.

/** The account that is signed in to the console. */
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

/** What a partner may do. */
export interface PartnerRights {
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
  /** Limits until the end of a launch. */
  launch_new_users: number | null;
  launch_limit: number | null;
}

export interface ConsolePartner extends PartnerRights {
  /** The end of a launch, ms. */
  launch_until: number | null;
  created: number;
  secret_keys: number;
  publishable_keys: number;
  /** Requests of its servers on this UTC day and on the busiest of the last 7, as far as they are durable. */
  used_today: number;
  used_peak: number;
  held: number;
  pending_request: boolean;
}

export interface ConsoleKey extends Omit<ShownKey, "state" | "current"> {
  partner_id: number;
  confirm_min: number;
  mass_no_limit: number;
  /** A limit that holds instead until a time, ms. */
  limited_to: number | null;
  limited_until: number | null;
}

/** One UTC day of a partner's requests. */
export type ConsoleUsageDay = Omit<UsageDay, "methods"> & { widget: number };

export interface ConsoleLimitRequest extends ShownLimitRequest {
  partner_id: number;
  partner: string;
  /** The partner's limits now. */
  rpm: number;
  daily: number;
  /** The last 14 UTC days, the newest first. */
  days: ConsoleUsageDay[];
  /** Minutes of those days, while it is pending; null without requests, and while Redis is away. */
  minutes: MinuteFigures | null;
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
  /** Null while no worker has processed it. */
  outcome: Outcome | null;
  have: number | null;
  failure: string | null;
  /** Its own position, and the metres from there to the station; null without a position. */
  lat: number | null;
  lon: number | null;
  distance_m: number | null;
}

/** The imports' values of the fields that an operator has set by hand; null for fields that nobody has set. */
export interface HandSet {
  name: string | null;
  brand: string | null;
  addr: string | null;
  grades_sold: string | null;
  opening_hours: string | null;
  position: Point | null;
  /** False if closed by hand, true if kept in service by hand, null if the imports decide. */
  in_service: boolean | null;
}

export type HandSetField = Exclude<keyof HandSet, "in_service">;

/** The station that one is a part of, and its own parts: who has joined each, and the fields whose values it gives. */
export interface Joins {
  part_of: string | null;
  parts: { id: string; source: string; actor: string; shows: HandSetField[] }[];
}

/** Two stations that may be one. The first would be a part of the other. */
export interface ConsolePair {
  station: ConsolePairStation;
  into: ConsolePairStation;
  distance_m: number;
  evidence: string[];
}
export type ConsolePairStation = Pick<
  ConsoleStation,
  "id" | "lat" | "lon" | "brand" | "name" | "addr"
> & { source: string };

export interface ConsoleStationPage {
  station: ConsoleStation & Record<"source" | "grades_sold" | "opening_hours" | "closed", string>;
  joins: Joins;
  by_hand: HandSet;
  fuel: FuelBlock;
  /** The steps that led here, the oldest first, and the least number of older ones that are left out. */
  steps: Step[];
  steps_before: number;
  /** True if the steps are computed from the newest marks only, without the older ones. */
  history_cut: boolean;
  marks: ConsoleMark[];
  /** Give it as `before` to see older marks; null when there are none. */
  next: number | null;
}

/** The choices of a form that selects marks. */
export interface ConsoleChoices {
  partners: { id: number; name: string }[];
  keys: { id: number; partner_id: number; label: string; prefix: string }[];
  /** Their names, in alphabetical order. */
  cities: string[];
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
  /** Age of the job that waits longest, whole seconds; null when none does. */
  oldest_age_s: number | null;
  active: number;
  failed: number;
}

/** What drivers say of a station itself, all that say the same together (decisions 15.47). */
export interface ConsoleSuggestion {
  /** The first one's, by which all are decided. */
  id: number;
  kind: SuggestionKind;
  /** Empty for a missing one. */
  station_id: string;
  people: number;
  first: number;
  /** What they wrote, and the places that they mean, the newest first. */
  texts: string[];
  places: (Point & { id: number })[];
  /** Null for one that is missing on the map. */
  station: (Point & { name: string; addr: string; removed: boolean }) | null;
}

export interface ConsoleHealth {
  ready: boolean;
  degraded: string[];
  checks: Record<string, { ok: boolean; says?: readonly (Sentence | string)[]; detail?: unknown }>;
  /** Null while Postgres is away. */
  marks: {
    unprocessed: number;
    oldest_s: number | null;
    failed: number;
    refolds: number;
    last_hour: number;
    held: number;
    pending_requests: number;
    suggestions: number;
    stations: number;
  } | null;
  /** Null while Redis is away. */
  queues: ConsoleQueue[] | null;
  /** The map under the stations; `missing`: the file that BASEMAP names cannot be read. */
  basemap: "bundled" | "own" | "missing";
}

/** An event that needs an operator's attention; open until it is acknowledged. */
export interface ConsoleAlarm {
  id: number;
  kind: string;
  /** A short title, the meaning, and the page of the console that helps. */
  title: string;
  meaning: string;
  page: string;
  /** A text is English. */
  subject: Sentence | string;
  /** The name of the partner that it is about; null without one. */
  partner: string | null;
  /** True when nothing of it is left to decide. */
  handled: boolean;
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
  /** The channels to the operator that are set up, with their faults. */
  channels: { channel: string; failures: number; fault: string | null; sent: number | null }[];
  /** Null while Postgres is away. */
  figures: {
    held: Record<string, number>;
    harmful: { from: string; to: string; source_kind: string; count: number }[];
    busiest_source_share: number;
  } | null;
}

/** A public text, with a Russian version if somebody has written one. */
export interface ConsolePublicText {
  en: string;
  ru: string | null;
}

/** An incident that `/status` shows to everybody. Times in ms. */
export interface ConsoleIncident {
  id: number;
  title: ConsolePublicText;
  /** The feeds that it affects; empty for all. */
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

/** Results of a search in the console's palette; each list is short (decisions 13.19). */
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

/** A spelling that an operator has given to a brand. */
export interface BrandAlias {
  spelling: string;
  /** The spelling that is served; "": no brand at all. */
  brand: string;
}

/** A brand as stations in service have it, and who knows it: the operator's aliases, the list, or nobody. */
export interface ServedBrand {
  brand: string;
  stations: number;
  known: "alias" | "list" | "no";
}

/** Which source wins each field of stations that several sources have (decisions 14.42). */
export interface ConsoleFieldSources {
  /** All fields; those without `sources` show the own source of each station. */
  fields: { field: string; sources: readonly string[] }[];
  /** The sources that such stations have. */
  sources: string[];
}

/** The page of brands. */
export interface ConsoleBrands {
  aliases: BrandAlias[];
  /** The brands that nobody knows, most stations first; the first of `unknown`. */
  brands: ServedBrand[];
  unknown: number;
  /** Stations in service with a brand, and those of them whose brand is known. */
  stations: number;
  stations_known: number;
}
