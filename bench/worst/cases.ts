import type { ReadCountry } from "#bench/reads/country.ts";
import type { Asked } from "#bench/worst/ask.ts";

export interface WorstCase {
  name: string;
  /** The `n`-th request: none has the rectangle of another. */
  request(n: number): Asked;
}

type Query = Record<string, string>;
type Headers = Record<string, string>;

/** What browsers send. */
const browser = { "Accept-Encoding": "gzip, deflate, br, zstd" };
const gzip = { "Accept-Encoding": "gzip" };
const br = { "Accept-Encoding": "br" };
const geojson = { Accept: "application/geo+json" };
const ndjson = { Accept: "application/x-ndjson" };
/** Every filter that lets everybody or nearly everybody pass, so that each costs its search and its list is long. */
const everyFilter = {
  status: "yes,low,queue,no,nodata",
  queue: "0-5,5-10,10-20,20+",
  fuel: "95",
  has_price: "true",
  fresh_h: "24",
};
const everyStatus = { status: "yes,low,queue,no,nodata" };
/** More than a case has requests: none has the rectangle of another case either. */
const perCase = 60;
/** Letters that nearly every address has. */
const letters = [..."оаинетрслвкмпуязбгчйхж"];
/** As much as a line of the request may have: Node takes 16 KB of headers. */
const longest = 14_000;

/** As much of it as fits when it is percent-encoded. */
const filled = (part: (n: number) => string): string => {
  let text = "";
  let length = 0;
  for (let n = 0; length < longest; n++) {
    text += part(n);
    length += new URLSearchParams({ "": part(n) }).toString().length - 1;
  }
  return text;
};

/**
 * The dearest requests that a publishable key may send. Rectangles differ in edges where no station is, or in edges
 * that cut through stations, so no cache of answers helps.
 */
export function worstCases(country: ReadCountry): WorstCase[] {
  const lats = country.stations.map(({ lat }) => lat);
  const lons = country.stations.map(({ lon }) => lon);
  const [south, north] = [Math.min(...lats), Math.max(...lats)];
  const [west, east] = [Math.min(...lons), Math.max(...lons)];
  const whole = (n: number): string =>
    [south - n / 1000, west - n / 1000, north + 1, Math.min(180, east + 1)]
      .map((degrees) => degrees.toFixed(3))
      .join(",");
  const dense = boxOfAbout(country, 3900);
  const [lat1, lon1, lat2, lon2] = dense;
  /** Just below the cut: every station of it is in the answer. */
  const full = (n: number): string =>
    [lat1 + (n % perCase) / 100, lon1 + n / perCase / 100, lat2 + (n % perCase) / 100, lon2]
      .map((degrees) => degrees.toFixed(3))
      .join(",");
  const cityNames = country.cities.map(({ name }) => name);
  const near = country.stations.find(({ addr }) => addr.length > 20) ?? country.stations[0]!;
  const common = mostCommon(country.stations.map(({ brand }) => brand));

  const at =
    (area: (n: number) => string) =>
    (name: string, query: Query = {}, headers: Headers = browser): WorstCase => ({
      name,
      request: (n) => ({
        path: `/stations?${new URLSearchParams({ bbox: area(n), ...query }).toString()}`,
        headers,
      }),
    });
  const all = at(whole);
  const most = at(full);
  const city = (name: string, query: Query = {}, headers: Headers = browser): WorstCase => ({
    name,
    request: (n) => {
      const radius = (60 - n / 1000).toFixed(3);
      const of = { city: cityNames[0]!, radius_km: radius, ...query };
      return { path: `/stations?${new URLSearchParams(of).toString()}`, headers };
    },
  });
  const get = (
    name: string,
    path: (n: number) => string,
    headers: Headers = browser,
  ): WorstCase => ({
    name,
    request: (n) => ({ path: path(n), headers }),
  });
  const sorted = { sort: "distance" };
  const device = (n: number) => `bench-device-${process.pid}-${n}`;

  const cases: WorstCase[] = [
    all("country"),
    all("country, gzip only", {}, gzip),
    all("country, plain", {}, {}),
    all("country, br only", {}, br),
    all("country, sort", sorted),
    all("country, sort, plain", sorted, {}),
    all("country, sort, br only", sorted, br),
    all("country, sort, gzip only", sorted, gzip),
    all("country, q of one letter", { q: "а" }),
    all("country, q of one letter, sort", { q: "а", ...sorted }),
    all("country, q of one letter, sort, plain", { q: "а", ...sorted }, {}),
    all("country, q of a rare letter, sort", { q: "щ", ...sorted }),
    all("country, q that nothing has", { q: "ъыъ", ...sorted }),
    all("country, q of 8 letters, sort", { q: letters.slice(0, 8).join(" "), ...sorted }),
    all("country, q of 7 letters and a word that nothing has", {
      q: `${letters.slice(0, 7).join(" ")} ъ`,
      ...sorted,
    }),
    all("country, q of 22 letters, sort", { q: letters.join(" "), ...sorted }),
    all("country, q of 14 KB, a word", { q: filled(() => "a") }),
    all("country, q of 14 KB, words that one station has", { q: partsOf(textOf(near)) }),
    all("country, q of 14 KB, other words", { q: filled((n) => `${n.toString(36)} `) }),
    all("country, every filter, sort", { ...everyFilter, ...sorted }),
    all("country, every filter, sort, gzip only", { ...everyFilter, ...sorted }, gzip),
    all("country, every status, sort", { ...everyStatus, ...sorted }),
    all("country, every status, q, brand", { ...everyStatus, q: "а", brand: common }),
    all("country, fresh_h", { fresh_h: "24" }),
    all("country, fresh_h, sort", { fresh_h: "24", ...sorted }),
    all("country, has_price", { has_price: "true" }),
    all("country, has_price, q, sort", { has_price: "true", q: "а", ...sorted }),
    all("country, status of 14 KB", { status: filled(() => "nodata,") }),
    all("country, fuel of 14 KB", { fuel: filled(() => "dt,") }),
    all("country, fuel of 14 KB, gzip only", { fuel: filled(() => "dt,") }, gzip),
    all("country, brand of 14 KB", { brand: filled(() => "я") }),
    all("country, GeoJSON", {}, { ...geojson, ...browser }),
    all("country, GeoJSON, plain", {}, geojson),
    all("country, GeoJSON, br only", {}, { ...geojson, ...br }),
    all("country, GeoJSON, q, sort", { q: "а", ...sorted }, { ...geojson, ...browser }),
    all("country, GeoJSON, q, sort, gzip only", { q: "а", ...sorted }, { ...geojson, ...gzip }),
    all("country, GeoJSON, q, sort, plain", { q: "а", ...sorted }, geojson),
    all("country, lines", {}, { ...ndjson, ...browser }),
    all("country, lines, plain", {}, ndjson),
    all("country, lines, br only", {}, { ...ndjson, ...br }),
    all("country, lines, q, sort", { q: "а", ...sorted }, { ...ndjson, ...browser }),
    all("country, If-None-Match of 14 KB", sorted, {
      ...browser,
      "If-None-Match": filled((n) => `W/"${n}",`),
    }),
    all("country, Accept-Encoding of 14 KB", sorted, {
      "Accept-Encoding": `gzip,${filled((n) => `a${n.toString(36)};q=0.${n % 9},`)}x`,
    }),
    all("country, Accept of 14 KB", sorted, {
      ...browser,
      Accept: `${filled((n) => `a/${n.toString(36)};q=0.${n % 9},`)}a/b`,
    }),
    all("country, 3000 unknown parameters", Object.fromEntries(manyNames())),
    most("4000 stations"),
    most("4000 stations, gzip only", {}, gzip),
    most("4000 stations, plain", {}, {}),
    most("4000 stations, br only", {}, br),
    most("4000 stations, sort", sorted),
    most("4000 stations, every status", everyStatus),
    most("4000 stations, q, sort", { q: "а", ...sorted }),
    most("4000 stations, GeoJSON", {}, { ...geojson, ...browser }),
    most("4000 stations, GeoJSON, sort, plain", sorted, geojson),
    most("4000 stations, lines", {}, { ...ndjson, ...browser }),
    city("city, radius 60"),
    city("city, radius 60, plain", {}, {}),
    city("city, radius 60, br only", {}, br),
    city("city, radius 60, q, sort", { q: "а", ...sorted }),
    city("city, radius 60, q, sort, br only", { q: "а", ...sorted }, br),
    city("city, radius 60, GeoJSON, q, sort", { q: "а", ...sorted }, { ...geojson, ...browser }),
    city("city, radius 60, lines, br only", {}, { ...ndjson, ...br }),
    get("cities, 200", () => "/cities?limit=200"),
    get("cities, 200, br", () => "/cities?limit=200", br),
    get("cities, q", () => `/cities?limit=200&q=${encodeURIComponent("а")}`),
    get("cities, q of 120", () => `/cities?limit=200&q=${encodeURIComponent("а".repeat(120))}`),
    get("one station", (n) => `/stations/${country.stations[n % 1000]!.id}`),
    get("unknown station of 14 KB", () => `/stations/${filled(() => "a")}`),
    get("widget config", () => "/widget/config"),
    {
      name: "widget mark, a new station and device each",
      request: (n) => ({
        path: `/widget/stations/${country.stations[(n * 7) % country.stations.length]!.id}/report`,
        body: { device: device(n), status: "no" },
      }),
    },
    {
      name: "widget mark, prefer respond-async",
      request: (n) => ({
        path: `/widget/stations/${country.stations[(n * 7 + 3) % country.stations.length]!.id}/report`,
        headers: { Prefer: "respond-async" },
        body: { device: device(n + 5000), status: "yes" },
      }),
    },
    {
      name: "widget mark, a body of 64 KB",
      request: (n) => ({
        path: `/widget/stations/${near.id}/report`,
        body: {
          device: device(n + 9000),
          status: "yes",
          ...Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`x${i}`, i])),
        },
      }),
    },
    {
      name: "widget confirm that nothing needs",
      request: (n) => ({
        path: `/widget/stations/${country.stations[(n * 7 + 5) % country.stations.length]!.id}/confirm`,
        body: { device: device(n + 20_000), status: "no" },
      }),
    },
  ];
  return cases.map(({ name, request }, i) => ({ name, request: (n) => request(i * perCase + n) }));
}

const manyNames = (): [string, string][] =>
  Array.from({ length: 3000 }, (_, n) => [n.toString(36), ""]);

const textOf = ({ name, addr }: { name: string; addr: string }): string => `${name} ${addr}`;

/** Different parts of a text's words, which that station has all of. */
function partsOf(text: string): string {
  const parts = new Set<string>();
  for (const word of text.toLowerCase().split(/\s+/))
    for (let from = 0; from < word.length; from++)
      for (let to = from + 1; to <= word.length; to++) parts.add(word.slice(from, to));
  return [...parts].join(" ").slice(0, longest / 6);
}

function mostCommon(values: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const value of values) if (value !== "") counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? "x";
}

/** A rectangle around a dense place that holds about so many stations. */
function boxOfAbout(country: ReadCountry, wanted: number): [number, number, number, number] {
  const centre = country.stations[country.stations.length >> 1]!;
  const reach = country.stations
    .map(({ lat, lon }) => Math.max(Math.abs(lat - centre.lat), Math.abs(lon - centre.lon)))
    .sort((a, b) => a - b)[wanted]!;
  return [centre.lat - reach, centre.lon - reach, centre.lat + reach, centre.lon + reach];
}
