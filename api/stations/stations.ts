import { type Static, Type } from "typebox";
import { orThrow } from "#api/http/errors.ts";
import { lineForm, lineHeaders, pickFormat } from "#api/stations/format.ts";
import { etagOf, isUnchanged, unchanged } from "#api/stations/presenters.ts";
import { json } from "#api/openapi/answers.ts";
import {
  featureList,
  featureListExample,
  listExample,
  stationList,
} from "#src/contract/shapes/stations.ts";
import { route } from "#api/http/route.ts";
import { filterParameters, parseBox, readFilters, widenBox } from "#api/stations/stations-query.ts";
import type { Services } from "#api/http/services.ts";
import type { Area } from "#snapshots/model/area.ts";
import { filtersKey } from "#snapshots/model/filters.ts";
import { type Refusal, refuse } from "#src/contract/refusals.ts";

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
    async handle(ctx) {
      const { key, query } = ctx.state;
      const { filters } = orThrow(readFilters(query));
      const publishable = key.kind === "publishable";
      const { area, name } = orThrow(readArea(services, query, publishable));
      const sort = query.sort === "distance" ? ({ sort: "distance" } as const) : {};
      const lifetimeMs = services.config.statusLifetimeMs;
      const rectangle = publishable && area.kind === "box";
      const shared = rectangle && (await services.rectangles.catchUp(ctx));
      const now = services.clock();
      const found = services.model.query({ area, filters, ...sort, limit: stationsMax, now });
      const { count, sum, truncated } = found;
      const asOfMs = services.asOf(now);
      const format = pickFormat(ctx);
      const etag = etagOf(ctx, {
        route: "/stations",
        format,
        query: [name, filtersKey(filters), sort, truncated],
        count,
        sum,
      });
      ctx.set("Vary", "Accept");
      if (area.kind === "box") ctx.set("X-Service-Cache", "miss");
      if (isUnchanged(ctx, etag, asOfMs)) return;
      const rest = { count, asOfMs, lifetimeMs, truncated };
      if (!shared || format !== "json") return services.lists.send(ctx, etag, found, rest, format);
      await services.rectangles.serve(ctx, { etag, area, now }, () =>
        services.lists.gzip(etag, found, rest),
      );
    },
  });

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
