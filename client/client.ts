import { createCall, type Call, type CallOptions, type CallSettings } from "./call.ts";
import type {
  AreaQuery,
  BatchReport,
  BatchResult,
  CityInsights,
  CityList,
  CityQuery,
  Delta,
  Erased,
  KeyRotation,
  HistoryQuery,
  InsightQuery,
  LimitRequest,
  LimitRequestList,
  LimitWish,
  OneStation,
  PageQuery,
  Report,
  ReportResult,
  ReportState,
  ReportStates,
  RotatedKey,
  StationFilters,
  StationHistory,
  StationList,
  StationPage,
  StationsAlong,
  Usage,
  Way,
} from "./types.ts";

/** A read. Throws an ApiError when the API refuses it. */
export interface Read<Query, Body> {
  (query: Query, options?: CallOptions): Promise<Body>;
  /** The same with `If-None-Match`: `body` is null when the content still has that ETag. */
  ifChanged(query: Query, etag: string | null, options?: CallOptions): Promise<Versioned<Body>>;
}

export type Versioned<Body> =
  | { etag: string; body: Body }
  /** `asOf`: the cursor that a fresh answer would have carried. */
  | { etag: string; body: null; asOf: string };

export interface Client {
  /** Stations of an area. */
  stations: Read<AreaQuery, StationList>;
  /** A page of the whole country. */
  all: Read<PageQuery | void, StationPage>;
  /** Changes since a moment, an `as_of` as a rule. */
  delta: Read<{ updated_since: string }, Delta>;
  station: Read<string, OneStation>;
  /** The statuses that a station served in the last hours. */
  history: Read<HistoryQuery, StationHistory>;
  cities: Read<CityQuery | void, CityList>;
  /** Stations by city, status, grade and day. */
  insights: Read<InsightQuery | void, CityInsights>;
  /** Stations beside a way, in its order. */
  along(way: Way, filters?: StationFilters, options?: CallOptions): Promise<StationsAlong>;
  /**
   * Forwards a mark. Tried again by itself only with an `external_id`. `wait: 0` does not wait for the outcome,
   * another number of seconds waits at most that long: `published.outcome` is then `queued`.
   */
  report(stationId: string, report: Report, options?: MarkOptions): Promise<ReportResult>;
  /**
   * Up to 500 marks at once. Tried again by itself only when each has an `external_id`. `wait`: seconds to wait for
   * outcomes, up to 10; without it they are `queued`.
   */
  reports(reports: readonly BatchReport[], options?: MarkOptions): Promise<BatchResult>;
  /** A mark's state and outcome; kept 7 days. */
  reportState(reportId: string, options?: CallOptions): Promise<ReportState>;
  /** The same for up to 500 marks. */
  reportStates(reportIds: readonly string[], options?: CallOptions): Promise<ReportStates>;
  /** Erases a user: the marks stay, and nothing leads to the user any more. */
  eraseUser(userRef: string, options?: CallOptions): Promise<Erased>;
  /** Your usage of the last days (7; up to 365), and your limits. */
  usage(query?: { days?: number }, options?: CallOptions): Promise<Usage>;
  /** Asks the operator for other limits. One request may be pending: 409 `limit-request-pending`. */
  askLimits(wish: LimitWish, options?: CallOptions): Promise<LimitRequest>;
  /** Your requests for other limits, the newest first (20; up to 100). */
  limitRequests(query?: { limit?: number }, options?: CallOptions): Promise<LimitRequestList>;
  /**
   * Replaces the key of this client; it goes on until `old_key_ends`. Keep the new one before you use it: it is shown
   * once. A call that failed may be made again with the same `request_id`, within an hour.
   */
  rotateKey(rotation: KeyRotation, options?: CallOptions): Promise<RotatedKey>;
}

export interface MarkOptions extends CallOptions {
  wait?: number;
  /** All checks and the real verdict; nothing is stored. */
  dryRun?: boolean;
}

/** An id as the last part of a path: one of letters alone, such as `all`, would be the name of another call. */
const idInPath = (id: string): string =>
  /^[a-z]+$/i.test(id) ? `%${id.charCodeAt(0).toString(16)}${id.slice(1)}` : encodeURIComponent(id);

/** The partner API (version 1) with typed calls and retries. */
export function createClient(settings: CallSettings): Client {
  const call = createCall(settings);
  return {
    stations: read(call, (query: AreaQuery) => `/stations${search(query)}`),
    all: read(call, (query: PageQuery | void) => `/stations/all${search(query)}`),
    delta: read(call, (query: { updated_since: string }) => `/stations/delta${search(query)}`),
    station: read(call, (id: string) => `/stations/${idInPath(id)}`),
    cities: read(call, (query: CityQuery | void) => `/cities${search(query)}`),
    history: read(
      call,
      ({ station_id, ...query }: HistoryQuery) =>
        `/stations/${encodeURIComponent(station_id)}/history${search(query)}`,
    ),
    insights: read(call, (query: InsightQuery | void) => `/insights/cities${search(query)}`),
    along: async (way, filters = {}, options) => {
      const path = `/stations/along${search(filters)}`;
      const request = { method: "POST", path, body: way, repeatable: true } as const;
      return (await call(request, options)).body as StationsAlong;
    },
    report: async (stationId, body, options = {}) => {
      const path = `/stations/${encodeURIComponent(stationId)}/report`;
      const headers = headersOf(options);
      const repeatable = options.dryRun === true || body.external_id != null;
      const request = { method: "POST", path, headers, body, repeatable } as const;
      return (await call(request, options)).body as ReportResult;
    },
    reports: async (reports, options = {}) => {
      const headers = headersOf(options);
      const repeatable =
        options.dryRun === true || reports.every((report) => report.external_id != null);
      const body = { reports };
      const request = { method: "POST", path: "/reports", headers, body, repeatable } as const;
      return (await call(request, options)).body as BatchResult;
    },
    reportState: async (reportId, options) => {
      const path = `/reports/${encodeURIComponent(reportId)}`;
      const request = { method: "GET", path, repeatable: true } as const;
      return (await call(request, options)).body as ReportState;
    },
    reportStates: async (reportIds, options) => {
      const path = `/reports${search({ ids: reportIds })}`;
      const request = { method: "GET", path, repeatable: true } as const;
      return (await call(request, options)).body as ReportStates;
    },
    eraseUser: async (userRef, options) => {
      const path = `/users/${encodeURIComponent(userRef)}`;
      return (await call({ method: "DELETE", path, repeatable: true }, options)).body as Erased;
    },
    usage: async (query = {}, options) => {
      const request = { method: "GET", path: `/usage${search(query)}`, repeatable: true } as const;
      return (await call(request, options)).body as Usage;
    },
    askLimits: async (body, options) => {
      // Sent twice, the second one would be refused although the first one was taken.
      const request = { method: "POST", path: "/limit-requests", body, repeatable: false } as const;
      return (await call(request, options)).body as LimitRequest;
    },
    limitRequests: async (query = {}, options) => {
      const path = `/limit-requests${search(query)}`;
      const request = { method: "GET", path, repeatable: true } as const;
      return (await call(request, options)).body as LimitRequestList;
    },
    rotateKey: async (body, options) => {
      const request = { method: "POST", path: "/keys/rotate", body, repeatable: true } as const;
      return (await call(request, options)).body as RotatedKey;
    },
  };
}

const headersOf = ({ wait, dryRun = false }: MarkOptions): Record<string, string> => ({
  ...(wait === undefined ? {} : { Prefer: `wait=${wait}` }),
  ...(dryRun ? { "X-Dry-Run": "1" } : {}),
});

function read<Query, Body>(call: Call, pathOf: (query: Query) => string): Read<Query, Body> {
  const get = (query: Query, headers: Record<string, string>, options?: CallOptions) =>
    call({ method: "GET", path: pathOf(query), headers, repeatable: true }, options);
  return Object.assign(
    async (query: Query, options?: CallOptions) => (await get(query, {}, options)).body as Body,
    {
      ifChanged: async (query: Query, etag: string | null, options?: CallOptions) => {
        const headers: Record<string, string> = etag === null ? {} : { "If-None-Match": etag };
        const received = await get(query, headers, options);
        const now = received.headers.get("etag") ?? "";
        return received.status === 304
          ? { etag: now, body: null, asOf: received.headers.get("x-as-of") ?? "" }
          : { etag: now, body: received.body as Body };
      },
    },
  );
}

type Value = string | number | boolean | readonly (string | number)[];

/** `?a=1&b=x,y`, without absent values. */
function search(query: object | void): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {}) as [string, Value | undefined][])
    if (value !== undefined) parameters.set(name, textOf(value));
  return parameters.size === 0 ? "" : `?${parameters}`;
}

/** JavaScript writes the rest of a sum of degrees near zero as 5.5e-17; the API reads plain decimals. */
function textOf(value: Value): string {
  if (typeof value === "object") return value.map(textOf).join(",");
  const text = String(value);
  return typeof value === "number" && text.includes("e-") ? value.toFixed(12) : text;
}
