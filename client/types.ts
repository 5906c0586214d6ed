/** The API's requests and answers, word for word: docs/contract.md 2 and 4. Times are UTC, `YYYY-MM-DD HH:MM:SS`. */

export type Status = "yes" | "low" | "no" | "queue";
export type ServedStatus = Status | "nodata";
export type Grade = "92" | "95" | "98" | "100" | "ДТ";
export type Queue = "0-5" | "5-10" | "10-20" | "20+";

/** A station's current fuel status. */
export interface FuelBlock {
  /** How likely the station has fuel now, percent in steps of 5; absent while unknown. */
  chance?: number;
  status: ServedStatus;
  /** Grades available, comma-separated. */
  fuels_now: string;
  /** Grades not available, comma-separated. */
  fuels_no: string;
  /** `92=58.10,ДТ=70.10`; absent without fresh prices. */
  prices?: string;
  queue: Queue | "";
  /** Litres a person; null: no limit. */
  limit_l: number | null;
  no_cash: boolean;
  fuel_cards_only: boolean;
  confirmations: number;
  /** Independent live devices behind the status. */
  real_count: number;
  /** True when it rests on imported data, not on marks. */
  seeded: boolean;
  /** "" when never set. */
  updated: string;
  pending_status: Status | "";
  pending_count: number;
  resolution_reason: "published" | "unconfirmed" | "conflict" | "no_data";
  /** Both sides while disputed, the served one first. */
  conflict: { versions: { status: Status; count: number; updated: string }[] } | null;
}

export interface Station {
  id: string;
  lat: number;
  lon: number;
  brand: string;
  name: string;
  addr: string;
  /** The grades that it sells at all, comma-separated; absent while unknown. */
  grades_sold?: string;
  /** As OSM writes them, "Mo-Fr 06:00-22:00", in the station's local time; absent while unknown. */
  opening_hours?: string;
  /** Closed for now, as its source says, since and until when (UTC), where it is known; absent for no. */
  closed?: { from: string | null; until: string | null };
  fuel: FuelBlock;
}

export interface StationList {
  stations: Station[];
  count: number;
  /** Cursor of the next `delta`. */
  as_of: string;
  stale_after_hours: number;
  /** True when the list was cut at 4000 stations. */
  truncated: boolean;
  /** The ids of `ids` that are not in service. */
  missing?: string[];
}

/** Stations beside a line, in the order of the way. */
export interface StationsAlong extends StationList {
  /** For each station: metres from the beginning of the line, and from the line. */
  along: { id: string; at_m: number; off_m: number }[];
}

export interface StationPage extends StationList {
  /** "" on the last page. */
  next_cursor: string;
}

export interface Delta extends StationList {
  /** Ids of stations taken out of service. */
  removed: string[];
  /** Of `removed`, the stations that are a part of another one now: their ids with its id. */
  merged_into?: Record<string, string>;
  /** Digest of all stations in service after these changes (see `digestOf`); absent in events of the stream. */
  digest?: string;
}

export interface OneStation {
  station: Station;
  as_of: string;
  stale_after_hours: number;
}

export interface City {
  name: string;
  region: string;
  lat: number;
  lon: number;
  /** Map zoom that shows it well. */
  zoom: number;
  population: number;
}

export interface CityList {
  cities: City[];
  count: number;
  total: number;
}

export interface HistoryQuery {
  station_id: string;
  /** 1 to 168; 48 by default. */
  hours?: number;
}

/** Gapless, the oldest first; `to` is null while the station serves the status. */
export interface StationHistory {
  station_id: string;
  from: string;
  runs: { status: Status | "nodata"; from: string; to: string | null }[];
  as_of: string;
  stale_after_hours: number;
}

export interface InsightQuery {
  /** Exact name; all cities without it. */
  city?: string;
  /** 1 to 90, today included; 7 by default. */
  days?: number;
  limit?: number;
  offset?: number;
}

/** Stations of a place. Shares are among stations with a known status or grade; null when there are none. */
export interface Insight {
  stations: number;
  statuses: Record<Status | "nodata", number>;
  share_no: number | null;
  grades: Record<
    string,
    { available: number; out: number; unknown: number; share_out: number | null }
  >;
  /** Averages over each day, the oldest first. */
  days: {
    day: string;
    stations: number;
    statuses: Record<Status | "nodata", number>;
    share_no: number | null;
  }[];
}

export interface CityInsights {
  country: Insight;
  cities: (Insight & Omit<City, "zoom">)[];
  count: number;
  total: number;
  as_of: string;
}

/** A mark of one of your users. */
export interface Report {
  status: Status;
  /** Stable per user; only a hash of it is stored. */
  user_ref: string;
  lat?: number | null;
  lon?: number | null;
  acc_m?: number | null;
  /** Grades present: 92, 95, 98, 100, ДТ (or dt, дизель). */
  fuels?: string[] | null;
  fuels_no?: string[] | null;
  queue?: Queue | null;
  prices?: Record<string, number> | null;
  /** null states "no limit". */
  limit_l?: number | null;
  no_cash?: boolean | null;
  fuel_cards_only?: boolean | null;
  text?: string | null;
  /** UTC time of the mark, when delivered late. */
  observed_at?: string | null;
  /** Fuel ran out right now. */
  express?: boolean | null;
  /** Your id of the mark; with it a retry is safe. */
  external_id?: string | null;
}

export interface BatchReport extends Report {
  station_id: string;
}

export interface ReportResult {
  report_id: string;
  accepted: boolean;
  /** Accepted without geo-confirmation. */
  remote: boolean;
  published: {
    /** published, confirmed, pending, conflict, superseded, held, expired or queued. */
    outcome: string;
    status: string;
    resolution_reason: string;
    needed: number | null;
    have: number | null;
    rule: string | null;
  };
  fuel: FuelBlock;
  duplicate: boolean;
  /** For a repeated `external_id`: the first mark, and whether this one said the same. */
  duplicate_of?: { report_id: string; station_id: string; status: Status; same_body: boolean };
}

export interface ReportState extends Omit<ReportResult, "duplicate_of"> {
  station_id: string;
  state: "queued" | "processed";
}

export interface Erased {
  /** False: nobody of this `user_ref` is known, or not any more. */
  erased: boolean;
}

export interface BatchResult {
  /** Results in the order sent. */
  reports: (ReportResult | { error: Problem; retry_after?: number })[];
  count: number;
}

export interface ReportStates {
  /** States in the order asked for. */
  reports: (ReportState | { report_id: string; error: Problem })[];
  count: number;
}

export interface UsageDay {
  /** UTC, `YYYY-MM-DD`. */
  date: string;
  requests: number;
  /** 304s among them. */
  not_modified: number;
  /** Refused requests among them. */
  errors: number;
  /** Requests by method and path: `GET /stations`. */
  methods: Record<string, number>;
}

export interface Usage {
  today: { date: string; requests: number; remaining: number };
  /** Requests a minute and a day. */
  limits: { rpm: number; daily: number };
  /** The newest first, empty days filled in. */
  days: UsageDay[];
  /** Requests with publishable keys; they use the viewers' budgets. */
  widget: { today: { date: string; requests: number }; days: UsageDay[] };
}

/** The limits that you ask the operator for. */
export interface LimitWish {
  /** Requests a minute, 1 to 100,000. */
  requested_rpm: number;
  /** Requests a day, 1 to 100,000,000. */
  requested_daily: number;
  comment?: string | null;
}

export interface LimitRequest {
  id: number;
  status: "pending" | "approved" | "rejected";
  requested_rpm: number;
  requested_daily: number;
  comment: string;
  created: string;
  /** null while it is pending. */
  decided: string | null;
  decision_comment: string;
}

export interface LimitRequestList {
  /** The newest first. */
  requests: LimitRequest[];
  count: number;
}

export interface KeyRotation {
  /** Days after which the old key ends: 1 to 30, default 7. */
  days?: number;
  /** A random text of your own, 16 to 128 characters, for example a UUID. */
  request_id: string;
}

export interface RotatedKey {
  /** The new key; the service does not show it again. */
  key: string;
  prefix: string;
  old_key_ends: string;
  request_id: string;
}

/** An event that the service sends to a webhook. `timestamp` is the time of the event in ISO 8601. */
export type WebhookEvent = { timestamp: string } & (
  | { type: "stations.changed"; data: Omit<Delta, "truncated"> }
  | { type: "report.processed"; data: { reports: ReportState[]; count: number } }
  | { type: "limit_request.decided"; data: LimitRequest }
  | { type: "key.expiring"; data: ExpiringKey }
  | { type: "webhook.test"; data: Record<string, never> }
);

export interface ExpiringKey {
  key_id: number;
  kind: "secret" | "publishable";
  /** The first characters of the key. */
  prefix: string;
  label: string;
  /** UTC. */
  expires: string;
}

/** RFC 9457. */
export interface Problem {
  /** Its last part is the code. */
  type: string;
  title: string;
  status: number;
  detail: string | { loc: (string | number)[]; msg: string; type: string }[];
  limit?: number;
  window?: string;
  /** Quote it to the operator. */
  request_id: string;
}

/** Filters of `/stations` and `/stations/all`; lists are sent comma-separated. */
export interface StationFilters {
  q?: string;
  status?: readonly ServedStatus[];
  /** All of them present. */
  fuel?: readonly string[];
  /** All of them sold there, out today or not; stations whose grades are unknown do not pass. */
  sells?: readonly string[];
  /** True: only stations that are open now; false: only closed ones. Those whose hours are unknown pass neither. */
  opened?: boolean;
  /** In any of its spellings. */
  brand?: string;
  has_price?: boolean;
  queue?: readonly Queue[];
  fresh_h?: number;
  /** 0 to 100, percent: stations whose chance of fuel is unknown do not pass. */
  chance_min?: number;
}

export interface AreaQuery extends StationFilters {
  /** lat1, lon1, lat2, lon2, south-west to north-east. */
  bbox?: readonly [number, number, number, number];
  city?: string;
  /** The nearest first around a point; with `lon`, and without `bbox` and `city`. */
  lat?: number;
  lon?: number;
  radius_km?: number;
  /** Up to 200 stations by their ids, in this order; without an area. */
  ids?: readonly string[];
  /** `chance`: the highest chance of fuel first, unknown ones last. */
  sort?: "distance" | "chance";
}

/** A way: an encoded polyline (precision 5) or a GeoJSON LineString, longitude first. */
export interface Way {
  line: string | { type: "LineString"; coordinates: number[][] };
  /** 1 to 5000; 500. */
  buffer_m?: number | null;
}

export interface PageQuery extends StationFilters {
  cursor?: string;
  limit?: number;
}

export interface CityQuery {
  q?: string;
  limit?: number;
  offset?: number;
}
