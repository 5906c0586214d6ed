import { createECDH, randomBytes } from "node:crypto";
import type { Asked } from "#bench/worst/ask.ts";
import { newKey } from "#src/keys/key-text.ts";

/** What the requests need to know of the country and of what is built. */
export interface Known {
  stationIds: readonly string[];
  cityNames: readonly string[];
  publishable: string;
  /** Paths of the pages of /docs, without their Markdown. */
  docs: readonly string[];
  /** Paths below /assets/. */
  assets: readonly string[];
}

/**
 * What bounds the number of requests of a network. `page`, `file`, `land`: PAGES_PER_MINUTE, ten or five times as many. `call`:
 * PAGE_CALLS_PER_MINUTE. `signIn`: SIGN_INS_PER_MINUTE. `none`: no limit, because a refusal would cost as much.
 */
export type Limit = "page" | "file" | "land" | "call" | "signIn" | "none";

/** A row of the table in docs/operations.md: pages and calls without a key that cost the same. */
export interface Open {
  name: string;
  /** Which routes it stands for: `GET /docs/:name`. */
  routes: RegExp;
  limit: Limit;
  /** Strangers get 401 or 403 from all of them. */
  isRefused?: true;
  /** The dearest requests that a stranger may send, by name; the n-th of them. */
  requests(known: Known): Record<string, (n: number) => Asked>;
}

/** As our own pages send a call. */
const own = { "Sec-Fetch-Site": "same-origin" };
const post = (path: string, body: object): Asked => ({ path, body, headers: own });
const browser = { "Accept-Encoding": "gzip, br", Accept: "text/html" };
const page = (path: string): Asked => ({ path, headers: browser });
const pick = <T>(list: readonly T[], n: number): T => list[n % list.length]!;
/** Right in its form, and known to nobody. */
const strangeKey = (kind: "secret" | "publishable"): string => newKey(kind, randomBytes(32));
const device = (n: number): string => `stranger-${process.pid}-${n}`;
const escaped = encodeURIComponent;
/** Tiles with much coast: Norway, Chile, Indonesia; at every zoom. */
const coast = (n: number): string => {
  const z = [10, 9, 8, 7, 6, 5][n % 6]!;
  const [lat, lon] = [
    [61, 5],
    [-50, -74],
    [-2, 130],
    [69, 16],
  ][(n >> 3) % 4]! as [number, number];
  const x = Math.floor(((lon + 180) / 360) * 2 ** z);
  const r = (lat * Math.PI) / 180;
  const y = Math.floor(((1 - Math.asinh(Math.tan(r)) / Math.PI) / 2) * 2 ** z);
  return `/basemap/land/${z}/${x + ((n * 7) % 11)}/${y + ((n * 5) % 7)}`;
};

const browserKeys = () => {
  const pair = createECDH("prime256v1");
  pair.generateKeys();
  return {
    p256dh: pair.getPublicKey("base64url"),
    auth: randomBytes(16).toString("base64url"),
  };
};

export const withoutKey: readonly Open[] = [
  {
    name: "the map `/`",
    routes: /^GET \/$/,
    limit: "page",
    requests: ({ cityNames }) => ({
      start: () => page("/"),
      "a city and a fuel": (n) => page(`/?fuel=95&city=${escaped(pick(cityNames, n))}`),
      "a point": (n) => page(`/?lat=${55 + (n % 100) / 100}&lon=37.6&fuel=95`),
    }),
  },
  {
    name: "a station `/s/{id}`",
    routes: /^GET \/s\/:id$/,
    limit: "page",
    requests: ({ stationIds }) => ({
      "a station": (n) => page(`/s/${escaped(pick(stationIds, n))}`),
      "of nobody": (n) => page(`/s/nobody-${n}`),
    }),
  },
  {
    name: "`/list`",
    routes: /^GET \/list\/?$/,
    limit: "page",
    requests: ({ cityNames }) => {
      const list = (more: string) => (n: number) =>
        page(`/list?city=${escaped(pick(cityNames, n))}&${more}`);
      return {
        fuel: list("fuel=95&status=fuel"),
        "last page": list("status=any&page=99"),
        likely: list("fuel=95&status=likely"),
        "unknown city": (n) => page(`/list?city=nowhere-${n}&status=any&page=2`),
      };
    },
  },
  {
    name: "`/overview`",
    routes: /^GET \/overview\/?$/,
    limit: "page",
    requests: () => ({
      "90 days": () => page("/overview?days=90&of=95&sort=95"),
      "by name": () => page("/overview?days=90&sort=name&order=asc&page=7"),
      "a city": (n) => page(`/overview?days=90&city=${escaped(`Санкт-Залесск ${n + 1}`)}`),
      "in a frame, of no key": () =>
        page(`/overview?days=90&embed=1&key=${strangeKey("publishable")}`),
    }),
  },
  {
    name: "`/status`, `/privacy`, `/problems`",
    routes: /^GET \/(status|status\.json|privacy|problems)(\/.*)?$/,
    limit: "page",
    requests: () => ({
      status: () => page("/status"),
      "status.json": () => page("/status.json"),
      privacy: () => page("/privacy"),
      problems: () => page("/problems"),
    }),
  },
  {
    name: "`/docs` as pages, and its search",
    routes: /^GET \/docs(\/|\/(guide|api)(\/(:name|[^.]+))?)?$|^GET \/docs\/search\.json$/,
    limit: "page",
    requests: ({ docs }) => ({
      "one page": () => page("/docs/guide?lang=en"),
      "every page in turn": (n) =>
        page(`${pick(docs, n >> 2)}${["", "?lang=en", "?lang=ru", "?lang=en&x"][n % 4]}`),
      search: () => page("/docs/search.json?lang=ru"),
    }),
  },
  {
    name: "Markdown, OpenAPI, `/llms.txt`, the API catalog",
    routes:
      /^(GET|ANY) \/(docs\/.+\.(md|py)|llms\.txt|\.well-known\/.+|api\/v1\/partner\/openapi.*)$/,
    limit: "file",
    requests: () => ({
      markdown: () => page("/llms.txt"),
      OpenAPI: () => page("/api/v1/partner/openapi.json"),
      catalog: () => page("/.well-known/api-catalog"),
    }),
  },
  {
    name: "files: `/assets`, `/pictures`, the client, the base map by range",
    routes:
      /^GET \/((assets|pictures)\/\*file|client\.tgz|service-worker\.js|licences\.txt|manifest\.webmanifest|basemap\/.+\.pmtiles)$/,
    limit: "file",
    requests: ({ assets }) => ({
      "a script": (n) => page(pick(assets, n)),
      licences: () => page("/licences.txt"),
      manifest: () => page("/manifest.webmanifest"),
      client: () => page("/client.tgz"),
      "16 KB of the base map": (n) => ({
        path: "/basemap/bundled.pmtiles",
        headers: { Range: `bytes=${n * 16_384}-${n * 16_384 + 16_383}` },
      }),
    }),
  },
  {
    name: "land below the sketch `/basemap/land/{z}/{x}/{y}`",
    routes: /^GET \/basemap\/land\//,
    limit: "land",
    requests: () => ({
      "coasts, each another": (n) => page(coast(n)),
      "the world": () => page("/basemap/land/0/0/0"),
    }),
  },
  {
    name: "`/widget/`",
    routes: /^GET \/widget\/?$/,
    limit: "page",
    requests: ({ cityNames, publishable }) => ({
      "a city": (n) =>
        page(`/widget/?key=${publishable}&fuel=95&city=${escaped(pick(cityNames, n))}`),
      "no key": () => page(`/widget/?key=${strangeKey("publishable")}`),
    }),
  },
  {
    name: "`/widget/embed` and its question about a key",
    routes: /^GET \/widget\/embed(\/|\/key)?$/,
    limit: "page",
    requests: ({ publishable }) => ({
      page: () => page("/widget/embed"),
      "a key": () => ({
        path: "/widget/embed/key",
        headers: { Authorization: `Bearer ${publishable}` },
      }),
      "no key": () => ({
        path: "/widget/embed/key",
        headers: { Authorization: `Bearer ${strangeKey("publishable")}` },
      }),
    }),
  },
  {
    name: "`/dashboard/`, `/console/`",
    routes: /^GET \/(dashboard|console)\/?$/,
    limit: "page",
    requests: () => ({
      dashboard: () => page("/dashboard/"),
      console: () => page("/console/"),
    }),
  },
  {
    name: "`/console/queues/`, without a session",
    routes: /^ANY \/console\/queues/,
    limit: "page",
    isRefused: true,
    requests: () => ({ board: () => page("/console/queues/") }),
  },
  {
    name: "sign-in to the console, by a password",
    routes: /^(POST|DELETE) \/console\/api\/session$/,
    limit: "signIn",
    requests: () => ({
      "a wrong password": (n) =>
        post("/console/api/session", { name: `nobody-${n}`, password: `wrong-${n}` }),
    }),
  },
  {
    name: "sign-in to the dashboard",
    routes: /^POST \/dashboard\/api\/session(\/link)?$/,
    limit: "signIn",
    requests: () => ({
      "no key": () => post("/dashboard/api/session", { key: strangeKey("secret") }),
      "no link": (n) => post("/dashboard/api/session/link", { token: `wrong-${n}` }),
    }),
  },
  {
    name: "all other calls of dashboard and console, without a session",
    routes:
      /^(?!POST \/dashboard\/api\/session)(?!(POST|DELETE) \/console\/api\/session$)\w+ \/(dashboard|console)\/api\//,
    limit: "call",
    isRefused: true,
    requests: () => ({
      "a wrong cookie": (n) => ({
        path: "/console/api/health",
        headers: { ...own, Cookie: `console-session=wrong-${n}` },
      }),
      "dashboard, a wrong cookie": (n) => ({
        path: "/dashboard/api/overview",
        headers: { ...own, Cookie: `dashboard-session=wrong-${n}` },
      }),
    }),
  },
  {
    name: "drivers' notifications `/alerts/…`, suggestions `/suggestions/send`",
    routes: /^POST \/(alerts|suggestions)\//,
    limit: "page",
    requests: ({ stationIds }) => ({
      mine: (n) => post("/alerts/mine", { device: device(n) }),
      ask: (n) =>
        post("/alerts/ask", {
          ...{ device: device(n), grade: "95", lat: 55.7, lon: 37.6, radius_km: 5, lang: "en" },
          subscription: {
            endpoint: `https://fcm.googleapis.com/fcm/send/${n}`,
            keys: browserKeys(),
          },
        }),
      stop: (n) => post("/alerts/stop", { id: n + 1, token: "wrong" }),
      suggestion: (n) =>
        post("/suggestions/send", {
          ...{ device: device(n), kind: "closed", station_id: pick(stationIds, n), text: "x" },
        }),
    }),
  },
  {
    name: "`/healthz`, `/readyz`, and `/metrics` for strangers",
    routes: /^GET \/(healthz|readyz|metrics)$/,
    limit: "none",
    requests: () => ({
      healthz: () => ({ path: "/healthz" }),
      readyz: () => ({ path: "/readyz" }),
      metrics: () => ({ path: "/metrics", headers: { "X-Forwarded-For": "203.0.113.9" } }),
    }),
  },
  {
    name: "the API without a key in force: 401",
    routes: /^ANY \/api\/v1\/partner$/,
    limit: "none",
    requests: () => ({
      "no key": () => ({ path: "/api/v1/partner/stations/all" }),
      "a key of nobody, each another": () => ({
        path: "/api/v1/partner/stations/all",
        headers: { Authorization: `Bearer ${strangeKey("secret")}` },
      }),
      preflight: () => ({
        ...{ path: "/api/v1/partner/cities", method: "OPTIONS" },
        headers: { Origin: "https://x.example", "Access-Control-Request-Method": "GET" },
      }),
    }),
  },
  {
    name: "a path that nothing has",
    routes: /^ANY \/nothing$/,
    limit: "page",
    requests: () => ({
      "for a browser": (n) => page(`/nothing-${n}`),
      "for a program": (n) => ({ path: `/nothing-${n}` }),
    }),
  },
];
