import { type Static, Type } from "typebox";
import { orThrow } from "#api/http/errors.ts";
import { pickEncoding } from "#api/http/encoding.ts";
import {
  type Format,
  lineForm,
  lineHeaders,
  packAs,
  pickFormat,
  sendAs,
  setForm,
} from "#api/stations/format.ts";
import { etagOf, isUnchanged, schemaVersion, unchanged } from "#api/stations/presenters.ts";
import type { Making, Question } from "#api/stations/rectangles.ts";
import { sendJson } from "#api/http/respond.ts";
import { json } from "#api/openapi/answers.ts";
import {
  featureList,
  featureListExample,
  listExample,
  stationList,
} from "#src/contract/shapes/stations.ts";
import { type ApiContext, route } from "#api/http/route.ts";
import { filterParameters, parseBox, readFilters, widenBox } from "#api/stations/stations-query.ts";
import type { Services } from "#api/http/services.ts";
import type { Area } from "#snapshots/model/area.ts";
import { type Filters, filtersKey } from "#snapshots/model/filters.ts";
import type { ListRest } from "#snapshots/model/envelope.ts";
import type { Rectangle } from "#snapshots/rectangles/rectangle-store.ts";
import { isRefusal, type Refusal, refuse } from "#src/contract/refusals.ts";

/** Most stations of one answer (docs/contract.md 8). */
const stationsMax = 4000;
const radiusDefaultKm = 25;

const query = Type.Object({
  bbox: Type.Optional(
    Type.String({
      default: "",
      description: "`lat1,lon1,lat2,lon2`, south-west to north-east; lon1 > lon2 crosses 180°",
      examples: ["54.9,82.7,55.2,83.2"],
    }),
  ),
  city: Type.Optional(
    Type.String({
      maxLength: 120,
      default: "",
      description: "Exact name; case and ё/е are ignored",
    }),
  ),
  radius_km: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 60,
      default: radiusDefaultKm,
      description: "Radius around the city",
    }),
  ),
  ...filterParameters,
  sort: Type.Optional(
    Type.Enum(["", "distance"], { type: "string", description: "distance: nearest first" }),
  ),
});

/** GET /stations, docs/contract.md 4.1. */
export const stationsRoute = (services: Services) =>
  route({
    method: "GET",
    path: "/stations",
    access: "any",
    summary: "Stations of an area with their fuel status",
    answers: {
      operationId: "listStations",
      tag: "Stations",
      description:
        "Give `bbox` or `city`; where both come, `bbox` is the area and `city` is still checked. Filters are applied before the cut at 4000. With a publishable key a `bbox` is widened to a 0.01° grid and may come from a shared cache.",
      replies: {
        200: {
          description:
            "The stations; as JSON, GeoJSON or a line of JSON for each, by `Accept`. Lines have no envelope: its fields are headers.",
          headers: ["ETag"],
          sometimes: ["X-Service-Cache", ...lineHeaders],
          forms: {
            ...json(stationList, listExample),
            "application/geo+json": { schema: featureList, example: featureListExample },
            ...lineForm,
          },
        },
        ...unchanged(["X-Service-Cache"]),
      },
      problems: ["bad-bbox", "missing-area", "bad-grade", "city-not-found"],
      takes: ["If-None-Match"],
    },
    query,
    lookUp(ctx) {
      const asked = readAsked(services, ctx);
      if (isRefusal(asked)) return null;
      ctx.state.asked = asked;
      return asked.question;
    },
    async handle(ctx) {
      const asked =
        (ctx.state.asked as Asked | undefined) ?? orThrow<Asked>(readAsked(services, ctx));
      const { area, format, question } = asked;
      ctx.set("Vary", "Accept");
      if (area.kind === "box") ctx.set("X-Service-Cache", "miss");
      let made: Computed | null = null;
      const shared =
        question &&
        (await services.rectangles.get(question, ctx.state.quota.found, () => {
          made = compute(services, ctx, asked);
          return making(services, asked, made);
        }));
      if (shared) return sendRectangle(services, ctx, asked, { ...shared, made });
      const { etag, found, rest } = compute(services, ctx, asked);
      if (isUnchanged(ctx, etag, rest.asOfMs)) return;
      if (format !== "json") return sendAs(ctx, format, found, rest);
      await services.lists.send(ctx, etag, found, rest);
    },
  });

type Found = ReturnType<Services["model"]["query"]>;

/** What a request asks for. */
interface Asked {
  area: Area;
  /** The area in one spelling. */
  name: readonly unknown[];
  filters: Filters;
  sort: { sort?: "distance" };
  format: Format;
  /** What to look for in the cache; null when the answer is not shared. */
  question: Question | null;
}

/** Its answer, not yet written. */
interface Computed {
  found: Found;
  etag: string;
  rest: ListRest;
  now: number;
}

function readAsked(services: Services, ctx: ApiContext<Static<typeof query>>): Asked | Refusal {
  const { key, query } = ctx.state;
  const read = readFilters(query);
  if (isRefusal(read)) return read;
  const { filters } = read;
  const found = readArea(services, query, key.kind === "publishable");
  if (isRefusal(found)) return found;
  const { area, name } = found;
  const sort = query.sort === "distance" ? ({ sort: "distance" } as const) : {};
  const format = pickFormat(ctx);
  const parts = [schemaVersion, filtersKey(filters), sort, format];
  const question = area.kind === "box" ? services.rectangles.question(key, area.box, parts) : null;
  return { area, name, filters, sort, format, question };
}

function compute(
  services: Services,
  ctx: ApiContext,
  { area, name, filters, sort, format }: Asked,
): Computed {
  const now = services.clock();
  const found = services.model.query({ area, filters, ...sort, limit: stationsMax, now });
  const { count, sum, truncated } = found;
  const tag = { route: "/stations", query: [name, filtersKey(filters), sort, truncated] };
  const etag = etagOf(ctx, { ...tag, format, count, sum });
  const lifetimeMs = services.config.statusLifetimeMs;
  const rest = { count, asOfMs: services.asOf(now), lifetimeMs, truncated };
  return { found, etag, rest, now };
}

/** An answer as it is stored. */
function making(
  { model, lists }: Services,
  { area, filters, format }: Asked,
  { found, etag, rest, now }: Computed,
): Making {
  const { count, asOfMs, truncated } = rest;
  const nextAt = model.nextChange(area, now, filters.freshH);
  const gzip =
    format === "json"
      ? lists.gzip(etag, found, rest).then((pieces) => Buffer.concat(pieces))
      : packAs(format, found, rest);
  return { etag, asOfMs, count, truncated, nextAt, gzip };
}

/** Sends an answer of the cache, or one that was just made for it; unpacked to those who do not take gzip. */
async function sendRectangle(
  { config, plainRectangles }: Services,
  ctx: ApiContext,
  { format }: Asked,
  { rectangle, isHit, made }: { rectangle: Rectangle; isHit: boolean; made: Computed | null },
): Promise<void> {
  ctx.set("X-Service-Cache", isHit ? "hit" : "miss");
  const { etag, asOfMs, count, truncated, gzip } = rectangle;
  if (isUnchanged(ctx, etag, asOfMs)) return;
  const rest = { count, asOfMs, truncated, lifetimeMs: config.statusLifetimeMs };
  const isPacked = pickEncoding(ctx.headers["accept-encoding"], ["gzip"]) === "gzip";
  if (!isPacked && made !== null) return sendAs(ctx, format, made.found, rest);
  if (isPacked) ctx.set("Content-Encoding", "gzip");
  const body = isPacked ? gzip : await plainRectangles(gzip);
  if (format === "json") return sendJson(ctx, body);
  setForm(ctx, format, rest);
  ctx.body = body;
}

/**
 * The area asked for, and its name in one spelling; `bbox` wins over `city`, which is checked all the same
 * (docs/decisions.md 6). `widen`: a publishable key gets the rectangle of the grid, a secret key its own.
 */
function readArea(
  services: Services,
  { bbox = "", city = "", radius_km: radiusKm = radiusDefaultKm }: Static<typeof query>,
  widen: boolean,
): { area: Area; name: readonly unknown[] } | Refusal {
  const box = bbox === "" ? null : parseBox(bbox);
  if (bbox !== "" && box === null) return refuse("bad-bbox");
  if (box === null && city.trim() === "") return refuse("missing-area");
  const centre = city.trim() === "" ? null : services.cities.find(city);
  if (city.trim() !== "" && centre === null) return refuse("city-not-found");
  if (box !== null) {
    const { south, west, north, east } = widen ? widenBox(box) : box;
    const area = { kind: "box", box: { south, west, north, east } } as const;
    return { area, name: [south, west, north, east] };
  }
  const { lat, lon } = centre!;
  const area = { kind: "circle", centre: { lat, lon }, radiusM: radiusKm * 1000 } as const;
  return { area, name: [lat, lon, radiusKm] };
}
