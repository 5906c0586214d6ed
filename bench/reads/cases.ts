import { request } from "node:http";
import type { ReadCountry } from "#bench/reads/country.ts";
import type { Recorded } from "#bench/rivals/raw-node.ts";
import { createRandom } from "#demo/country/random.ts";
import { boxAround, distanceM } from "#src/domain/geo.ts";
import { formatTime } from "#src/domain/time.ts";

export type SideName =
  | "Fuelmark"
  | "before"
  | "bare Koa"
  | "raw Node"
  | "nginx"
  | "gzip on the fly"
  | "Koa + knex";

export interface Goal {
  rival: SideName;
  /** Least requests/s of ours, as a multiple of the rival's. */
  atLeast: number;
}

export interface Case {
  name: string;
  urls: string[];
  gzip: boolean;
  ifNoneMatch?: string;
  rivals: SideName[];
  goals: Goal[];
}

export const base = "/api/v1/partner/stations";
export const dumpUrl = `${base}/all?limit=30000`;
const ids = 64;
const boxes = 16;

/** The requests of every case. `sinceMs`: after which 1,000 stations have changed; `etag` is the dump's. */
export function casesOf(country: ReadCountry, sinceMs: number, etag: string): Case[] {
  const random = createRandom(7);
  const some = Array.from({ length: ids }, () => random.pick(country.stations));
  const goal = (rival: SideName, atLeast: number): Goal => ({ rival, atLeast });
  const rectangle = (about: number, gzip: boolean, goals: Goal[]): Case => ({
    name: `rectangle of ${about}, ${gzip ? "gzip" : "plain"}`,
    urls: boxesOf(country, about).map((box) => `${base}?bbox=${box}`),
    gzip,
    rivals: ["raw Node", ...(gzip ? (["gzip on the fly"] as const) : []), "Koa + knex"],
    goals,
  });
  const one = (name: string, url: string): Case => ({
    name,
    urls: [url],
    gzip: false,
    rivals: ["raw Node", "Koa + knex"],
    goals: [],
  });
  const since = encodeURIComponent(formatTime(sinceMs));
  return [
    {
      ...one("one station", ""),
      urls: some.map(({ id }) => `${base}/${id}`),
      rivals: ["bare Koa", "raw Node", "Koa + knex"],
      goals: [goal("bare Koa", 0.55)],
    },
    {
      ...one("304 of the dump", dumpUrl),
      ifNoneMatch: etag,
      rivals: ["bare Koa", "raw Node"],
      goals: [goal("bare Koa", 0.55)],
    },
    {
      ...one("dump, gzip", dumpUrl),
      gzip: true,
      rivals: ["raw Node", "nginx"],
      goals: [goal("raw Node", 0.9), goal("nginx", 1)],
    },
    rectangle(50, false, []),
    rectangle(500, false, [goal("Koa + knex", 10)]),
    rectangle(4000, false, [goal("Koa + knex", 10)]),
    rectangle(50, true, []),
    rectangle(500, true, []),
    rectangle(4000, true, [goal("gzip on the fly", 2)]),
    one(
      "city, three filters",
      `${base}?city=${encodeURIComponent(densest(country))}&status=yes,queue&fuel=95&has_price=true`,
    ),
    one("delta of 1,000", `${base}/delta?updated_since=${since}`),
  ];
}

/** The requests of a case as one side understands them, by all partners in turn. */
export function requestsOf(one: Case, side: SideName, keys: readonly string[]): string[] {
  const count = Math.max(one.urls.length, keys.length);
  return Array.from({ length: count }, (_, n) =>
    [
      `GET ${one.urls[n % one.urls.length]} HTTP/1.1`,
      "Host: localhost",
      `Authorization: Bearer ${keys[n % keys.length]}`,
      ...(one.gzip ? ["Accept-Encoding: gzip"] : []),
      ...(one.ifNoneMatch === undefined ? [] : [`If-None-Match: ${one.ifNoneMatch}`]),
      ...(side === "gzip on the fly" ? ["X-On-The-Fly: 1"] : []),
      "",
      "",
    ].join("\r\n"),
  );
}

export interface Got {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

/** One request, its body as it came. */
export function get(port: number, path: string, headers: Record<string, string>): Promise<Got> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, path, headers }, (res) => {
      const chunks: Buffer[] = [];
      res.on("data", (chunk: Buffer) => chunks.push(chunk));
      res.on("end", () =>
        resolve({
          status: res.statusCode ?? 0,
          headers: res.headers as Record<string, string>,
          body: Buffer.concat(chunks),
        }),
      );
    });
    sent.on("error", reject).end();
  });
}

const ofConnection = new Set(["date", "connection", "keep-alive", "transfer-encoding"]);

/** The headers of an answer that its handler has set. */
export const ownHeaders = ({ headers }: Got): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !ofConnection.has(name)));

/** What Fuelmark answers to every request of the cases, for the server of constants. */
export async function record(
  cases: readonly Case[],
  port: number,
  key: string,
  save: (file: string, body: Buffer) => void,
): Promise<Recorded[]> {
  const recorded: Recorded[] = [];
  for (const one of cases)
    for (const url of one.urls)
      for (const gzip of one.gzip && one.rivals.includes("gzip on the fly")
        ? [true, false]
        : [one.gzip]) {
        const got = await get(port, url, {
          Authorization: `Bearer ${key}`,
          ...(gzip ? { "Accept-Encoding": "gzip" } : {}),
          ...(one.ifNoneMatch === undefined ? {} : { "If-None-Match": one.ifNoneMatch }),
        });
        const wanted = one.ifNoneMatch === undefined ? 200 : 304;
        if (got.status !== wanted)
          throw new Error(`${one.name}: ${got.status} ${got.body.toString().slice(0, 200)}`);
        const headers = ownHeaders(got);
        const file = wanted === 304 ? "" : `${recorded.length}.body`;
        if (file !== "") save(file, got.body);
        recorded.push({ url, gzip, headers, file });
      }
  return recorded;
}

/** Rectangles around random stations that hold about so many. */
export function boxesOf(
  { stations }: Pick<ReadCountry, "stations">,
  about: number,
  count = boxes,
): string[] {
  const random = createRandom(about);
  return Array.from({ length: count }, () => {
    const { lat, lon } = random.pick(stations);
    // A degree of longitude is about half as long as one of latitude there.
    const reach = stations
      .map((one) => Math.max(Math.abs(one.lat - lat), Math.abs(one.lon - lon) / 2))
      .sort((a, b) => a - b)[about - 1]!;
    return [lat - reach, lon - 2 * reach, lat + reach, Math.min(180, lon + 2 * reach)]
      .map((degrees) => degrees.toFixed(5))
      .join(",");
  });
}

function densest({ cities, stations }: ReadCountry): string {
  const within = (city: ReadCountry["cities"][number]): number => {
    const { south, north } = boxAround(city, 25_000);
    return stations.filter(
      (one) => one.lat > south && one.lat < north && distanceM(city, one) < 25_000,
    ).length;
  };
  const counted = cities.map((city) => [within(city), city.name] as const);
  return counted.toSorted(([a], [b]) => b - a)[0]![1];
}
