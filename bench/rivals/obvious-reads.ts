import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import Koa from "koa";
import { loadConfig } from "#src/infrastructure/config.ts";
import { createDb, rows } from "#src/infrastructure/db.ts";
import { boxAround, distanceM, type Point } from "#src/domain/geo.ts";

// The rival of `npm run bench -- reads`: what a team would write first. Koa, knex, a GiST index on the stations'
// points, JSON.stringify; keys are looked up in memory and nothing is metered.
const config = loadConfig();
// It may take its time on a busy machine, and be measured at that.
const db = createDb({ ...config, acquireTimeoutMs: 60_000, queryTimeoutMs: 60_000 }, "obvious");
const keys = new Set(JSON.parse(readFileSync(process.env["KEYS_FILE"]!, "utf8")) as string[]);
const toGzip = promisify(gzip);
const base = "/api/v1/partner/stations";
const most = 4000;

interface Row extends Point {
  id: string;
  brand: string;
  name: string;
  addr: string;
  [column: string]: unknown;
}

const stationOf = ({ id, lat, lon, brand, name, addr, ...fuel }: Row): object => ({
  id,
  lat,
  lon,
  brand,
  name,
  addr,
  fuel,
});
const columns = `id, lat, lon, brand, name, addr, status, fuels_now, fuels_no, prices, queue, limit_l, no_cash,
  fuel_cards_only, confirmations, real_count, seeded, updated, pending_status, pending_count, resolution_reason, conflict`;

const listOf = (found: readonly Row[]): object => ({
  stations: found.slice(0, most).map(stationOf),
  count: Math.min(found.length, most),
  as_of: new Date().toISOString().slice(0, 19).replace("T", " "),
  stale_after_hours: 24,
  truncated: found.length > most,
});

async function inCity(query: URLSearchParams): Promise<Row[]> {
  const [city] = await rows<Point>(db, "select lat, lon from cities where name = ?", [
    query.get("city"),
  ]);
  if (city === undefined) return [];
  const radiusM = Number(query.get("radius_km") ?? 25) * 1000;
  const { south, west, north, east } = boxAround(city, radiusM);
  const found = await rows<Row>(
    db,
    `select ${columns} from obvious_stations where pos <@ box(point(?, ?), point(?, ?))
     and status = any(?::text[]) and string_to_array(fuels_now, ',') @> ?::text[] and prices <> ''`,
    [
      ...[west, south, east, north],
      (query.get("status") ?? "").split(","),
      (query.get("fuel") ?? "").split(","),
    ],
  );
  return found.filter((one) => distanceM(city, one) <= radiusM);
}

async function answer(path: string, query: URLSearchParams): Promise<object | null> {
  const bbox = query.get("bbox");
  if (path === base && bbox !== null) {
    const [south, west, north, east] = bbox.split(",").map(Number) as [
      number,
      number,
      number,
      number,
    ];
    return listOf(
      await rows<Row>(
        db,
        `select ${columns} from obvious_stations where pos <@ box(point(?, ?), point(?, ?)) limit ${most + 1}`,
        [west, south, east, north],
      ),
    );
  }
  if (path === base) return listOf(await inCity(query));
  if (path === `${base}/delta`)
    return {
      ...listOf(
        await rows<Row>(
          db,
          `select ${columns} from obvious_stations where changed_at >= ?::timestamptz order by id`,
          [`${query.get("updated_since")}Z`],
        ),
      ),
      removed: [],
    };
  const [one] = await rows<Row>(db, `select ${columns} from obvious_stations where id = ?`, [
    decodeURIComponent(path.slice(base.length + 1)),
  ]);
  return one === undefined
    ? null
    : { station: stationOf(one), as_of: new Date().toISOString(), stale_after_hours: 24 };
}

const app = new Koa();
app.use(async (ctx) => {
  if (!keys.has(ctx.get("Authorization").replace(/^Bearer /, ""))) {
    ctx.status = 401;
    return;
  }
  const found = await answer(ctx.path, new URLSearchParams(ctx.querystring));
  if (found === null) {
    ctx.status = 404;
    return;
  }
  const body = JSON.stringify(found);
  ctx.type = "application/json";
  if (ctx.acceptsEncodings("gzip", "identity") === "gzip" && ctx.get("Accept-Encoding") !== "") {
    ctx.set("Content-Encoding", "gzip");
    ctx.body = await toGzip(body);
  } else ctx.body = Buffer.from(body);
});
await db.raw("select 1");
const handle = app.callback();
const server = createServer((req, res) => void handle(req, res));
server.listen(config.port, config.host);
await once(server, "listening");
console.log(JSON.stringify({ msg: "ready" }));
process.on("SIGTERM", () => process.exit(0));
