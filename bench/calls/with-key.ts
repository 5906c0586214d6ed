import type { ReadCountry } from "#bench/reads/country.ts";
import type { Asked } from "#bench/worst/ask.ts";
import { formatTime } from "#src/domain/time.ts";

/** A call of the API with its dearest requests, by name. */
export interface Keyed {
  /** `GET /stations`, as the routes have it; several that are the same. */
  routes: string[];
  requests: Record<string, (n: number) => Asked>;
  /** Each takes long: a few of them tell enough. */
  isLong?: true;
}

const gzip = { "Accept-Encoding": "gzip" };
const br = { "Accept-Encoding": "br" };
const async = { Prefer: "respond-async" };
const query = (parameters: Record<string, string>): string =>
  new URLSearchParams(parameters).toString();
const letters = [..."оаинетрслвкмпуязбгчйхж"];

/** All calls of a partner's key over this country. */
export function withKey(country: ReadCountry, now: number): Keyed[] {
  const { stations, cities } = country;
  const [lats, lons] = [stations.map(({ lat }) => lat), stations.map(({ lon }) => lon)];
  const [south, north] = [Math.min(...lats) - 1, Math.max(...lats)];
  const [west, east] = [Math.min(...lons) - 1, Math.max(...lons)];
  const bbox = (n: number): string =>
    [south - n / 1000, Math.max(-180, west - n / 1000), north + 1, Math.min(180, east + 1)]
      .map((degrees) => degrees.toFixed(3))
      .join(",");
  const idOf = (n: number): string => stations[(n * 7) % stations.length]!.id;
  const since = formatTime(now - 47 * 3600_000);
  const every = {
    ...{ status: "yes,low,queue,no,nodata", queue: "0-5,5-10,10-20,20+" },
    ...{ fuel: "95", has_price: "true", fresh_h: "24" },
  };
  const mark = (n: number, of: string) => ({
    ...{ status: "no", user_ref: `${of}-${process.pid}-${n}`, text: "x".repeat(200) },
    ...{
      lat: stations[(n * 7) % stations.length]!.lat,
      lon: stations[(n * 7) % stations.length]!.lon,
    },
    ...{ fuels_no: ["92", "95"], prices: { "95": 60.5 } },
  });
  const get =
    (path: (n: number) => string, headers: Record<string, string> = {}) =>
    (n: number): Asked => ({ path: path(n), headers });
  const send =
    (path: (n: number) => string, body: (n: number) => object, method = "POST") =>
    (n: number): Asked => ({ path: path(n), body: body(n), method, headers: async });
  /** As many points as a way may have, up and down beside the largest city. */
  const way = (n: number): [number, number][] =>
    Array.from({ length: 2000 }, (_, i) => [
      Number((cities[0]!.lon + (n + i) / 2000).toFixed(4)),
      Number((cities[0]!.lat + 0.15 * Math.sin(i / 10)).toFixed(4)),
    ]);
  const area = (form: string): Keyed["requests"] => ({
    country: get((n) => `/stations${form}?bbox=${bbox(n)}`),
    "country, gzip": get((n) => `/stations${form}?bbox=${bbox(n)}`, gzip),
    "country, br": get((n) => `/stations${form}?bbox=${bbox(n)}`, br),
    "in an order, q": get(
      (n) => `/stations${form}?${query({ bbox: bbox(n), q: "а", sort: "distance" })}`,
      gzip,
    ),
    "every filter": get((n) => `/stations${form}?${query({ bbox: bbox(n), ...every })}`, gzip),
    "22 words": get(
      (n) => `/stations${form}?${query({ bbox: bbox(n), q: letters.join(" "), sort: "distance" })}`,
    ),
    city: get(
      (n) =>
        `/stations${form}?${query({ city: cities[0]!.name, radius_km: String(60 - n / 1000) })}`,
    ),
    ids: get(
      (n) =>
        `/stations${form}?ids=${Array.from({ length: 200 }, (_, i) => idOf(n * 200 + i)).join()}`,
    ),
  });
  const all = (form: string): Keyed["requests"] => ({
    whole: get(() => `/stations/all${form}?limit=30000`),
    "whole, gzip": get(() => `/stations/all${form}?limit=30000`, gzip),
    "whole, br": get(() => `/stations/all${form}?limit=30000`, br),
    pages: get((n) => `/stations/all${form}?limit=${9000 - n}`, gzip),
    "q, each another": get(
      (n) =>
        `/stations/all${form}?${query({ limit: "30000", q: letters[n % 22]! + (n > 21 ? " 1" : "") })}`,
      gzip,
    ),
    "every filter": get(
      (n) => `/stations/all${form}?${query({ limit: String(30_000 - n), ...every })}`,
      gzip,
    ),
    "fresh_h, br": get(
      (n) => `/stations/all${form}?${query({ limit: String(30_000 - n), fresh_h: "24" })}`,
      br,
    ),
  });
  const formed = (form: string): Keyed[] => [
    { routes: [`GET /stations${form}`], requests: area(form) },
    { routes: [`GET /stations/all${form}`], requests: all(form) },
  ];
  const hook = (n: number) => ({ url: `https://hooks.example/${n}`, events: ["station.changed"] });
  return [
    ...["", ".geojson", ".ndjson", ".csv"].flatMap(formed),
    {
      routes: ["POST /stations/along"],
      requests: {
        "2000 points, 5 km": send(
          () => "/stations/along",
          (n) => ({ line: { type: "LineString", coordinates: way(n) }, buffer_m: 5000 }),
        ),
        "every filter": send(
          () => `/stations/along?${query(every)}`,
          (n) => ({ line: { type: "LineString", coordinates: way(n) }, buffer_m: 5000 }),
        ),
      },
    },
    {
      routes: ["GET /stations/delta"],
      requests: {
        "47 hours": get(() => `/stations/delta?${query({ updated_since: since })}`),
        "47 hours, gzip": get(() => `/stations/delta?${query({ updated_since: since })}`, gzip),
        "47 hours, br": get(() => `/stations/delta?${query({ updated_since: since })}`, br),
      },
    },
    {
      routes: ["GET /stations/stream"],
      requests: {
        "an opening": (n) => ({
          path: "/stations/stream",
          isOpen: true,
          headers: { "X-N": `${n}` },
        }),
        "with 47 hours": () => ({
          path: `/stations/stream?${query({ updated_since: since })}`,
          isOpen: true,
        }),
      },
    },
    {
      routes: ["GET /stations/{station_id}"],
      requests: {
        one: get((n) => `/stations/${idOf(n)}`),
        none: get((n) => `/stations/none-${n}`),
      },
    },
    {
      routes: ["GET /stations/{station_id}/history"],
      requests: { one: get((n) => `/stations/${idOf(n)}/history`) },
    },
    {
      routes: ["GET /cities"],
      requests: {
        "200": get(() => "/cities?limit=200"),
        q: get((n) => `/cities?${query({ limit: "200", q: letters[n % 22]! })}`),
      },
    },
    {
      routes: ["GET /insights/cities"],
      requests: {
        "200 cities, 90 days": get(() => "/insights/cities?days=90&limit=200"),
        "br, each another": get((n) => `/insights/cities?limit=200&days=${90 - (n % 20)}`, br),
      },
    },
    { routes: ["GET /usage"], requests: { "365 days": get(() => "/usage?days=365") } },
    {
      routes: ["GET /limit-requests"],
      requests: { "100": get(() => "/limit-requests?limit=100") },
    },
    {
      routes: ["POST /limit-requests"],
      requests: {
        one: send(
          () => "/limit-requests",
          (n) => ({ requested_rpm: 500 + n, requested_daily: 100_000 }),
        ),
      },
    },
    {
      routes: ["POST /keys/rotate"],
      requests: {
        "a key of today": send(
          () => "/keys/rotate",
          (n) => ({ request_id: `a request of the bench ${n}` }),
        ),
      },
    },
    {
      routes: ["POST /stations/{station_id}/report"],
      requests: {
        "a new user each": send(
          (n) => `/stations/${idOf(n)}/report`,
          (n) => mark(n, "one"),
        ),
        "that waits for its outcome": (n) => ({
          path: `/stations/${idOf(n + 900)}/report`,
          body: mark(n + 900, "waits"),
        }),
      },
    },
    {
      routes: ["POST /reports"],
      isLong: true,
      requests: {
        "500, a new user each": send(
          () => "/reports",
          (n) => ({ reports: reportsOf(n, (m) => mark(m, "many")) }),
        ),
        "500, all refused": send(
          () => "/reports",
          (n) => ({ reports: reportsOf(0, (m) => ({ ...mark(m, "many"), external_id: `x${n}` })) }),
        ),
        "500, dry": (n) => ({
          path: "/reports",
          body: { reports: reportsOf(n + 90, (m) => mark(m, "dry")) },
          headers: { "X-Dry-Run": "1" },
        }),
      },
    },
    {
      routes: ["GET /reports"],
      requests: {
        "500 ids": get(
          (n) => `/reports?ids=${Array.from({ length: 500 }, (_, i) => n * 500 + i + 1).join()}`,
        ),
      },
    },
    { routes: ["GET /reports/{report_id}"], requests: { one: get((n) => `/reports/${n + 1}`) } },
    {
      routes: ["DELETE /users/{user_ref}"],
      requests: { "a user": (n) => ({ path: `/users/none-${n}`, method: "DELETE" }) },
    },
    { routes: ["GET /webhooks"], requests: { all: get(() => "/webhooks") } },
    { routes: ["POST /webhooks"], requests: { one: send(() => "/webhooks", hook) } },
    {
      routes: ["GET /webhooks/{webhook_id}"],
      requests: { none: get(() => "/webhooks/1") },
    },
    {
      routes: [
        "PATCH /webhooks/{webhook_id}",
        "DELETE /webhooks/{webhook_id}",
        "POST /webhooks/{webhook_id}/rotate-secret",
        "POST /webhooks/{webhook_id}/test",
        "POST /webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver",
      ],
      requests: {
        change: send(
          () => "/webhooks/1",
          () => ({ description: "x" }),
          "PATCH",
        ),
        rotate: (n) => ({
          path: `/webhooks/1/rotate-secret?overlap_hours=${n % 9}`,
          method: "POST",
        }),
        test: () => ({ path: "/webhooks/1/test", method: "POST" }),
        redeliver: () => ({ path: "/webhooks/1/deliveries/1/redeliver", method: "POST" }),
      },
    },
    {
      routes: ["GET /webhooks/{webhook_id}/deliveries"],
      requests: { "100": get(() => "/webhooks/1/deliveries?limit=100") },
    },
    { routes: ["GET /widget/config"], requests: { one: get(() => "/widget/config") } },
    {
      routes: [
        "POST /widget/stations/{station_id}/report",
        "POST /widget/stations/{station_id}/confirm",
        "POST /widget/stations/{station_id}/take-back",
        "POST /widget/forget",
      ],
      requests: Object.fromEntries(
        [
          ["report", (n: number) => ({ device: `bench-device-${n}`, status: "no" })] as const,
          [
            "confirm",
            (n: number) => ({ device: `bench-device-${n + 1e4}`, status: "no" }),
          ] as const,
          ["take-back", (n: number) => ({ device: `bench-device-${n}` })] as const,
        ].map(([what, body]) => [
          what,
          send((n) => `/widget/stations/${idOf(n + 3000)}/${what}`, body),
        ]),
      ),
    },
  ];
  function reportsOf(n: number, one: (m: number) => object): object[] {
    return Array.from({ length: 500 }, (_, i) => {
      const m = n * 500 + i;
      return { station_id: idOf(m), ...one(m) };
    });
  }
}
