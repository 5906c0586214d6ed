import { orThrow } from "#api/http/errors.ts";
import { json } from "#api/openapi/answers.ts";
import {
  formsOf,
  lineForms,
  lineHeadersOf,
  operationIdOf,
  sendList,
} from "#api/stations/format.ts";
import type { Format } from "#snapshots/model/forms.ts";
import { unchanged } from "#api/stations/presenters.ts";
import {
  type AreaRequest,
  createRequestReader,
  findList,
  makeShared,
  readRequest,
} from "#api/stations/area-answer.ts";
import {
  featureList,
  featureListExample,
  listExample,
  stationList,
} from "#src/contract/shapes/stations.ts";
import { route } from "#api/http/route.ts";
import { areaQuery, readAreaQuery } from "#api/stations/stations-query.ts";
import type { ReadDeps } from "#api/stations/deps.ts";

/** GET /stations, docs/contract.md 4.1; with `fixed` the same in one form, whatever `Accept` says: /stations.csv. */
export function stationsRoute(services: ReadDeps, fixed?: Format) {
  return route({
    method: "GET",
    path: fixed === undefined ? "/stations" : `/stations.${fixed}`,
    access: fixed === undefined ? "any" : "secret",
    summary: `Stations of an area with their fuel status${fixed === undefined ? "" : `, as ${fixed}`}`,
    answers: {
      operationId: operationIdOf("listStations", fixed),
      tag: "Stations",
      description:
        "Give `bbox` or `city`; where both come, `bbox` is the area and `city` is still checked. Or give `lat` and `lon`, or `ids`. Filters are applied before the cut at 4000. With a publishable key a `bbox` is widened to a 0.01° grid and may come from a shared cache.",
      replies: {
        200: {
          description:
            "The stations; as JSON, GeoJSON, lines of JSON or CSV (secret keys), by `Accept` or by the path. Lines have no envelope: its fields are headers.",
          headers: ["ETag"],
          sometimes: ["X-Service-Cache", ...lineHeadersOf(fixed)],
          forms: formsOf(
            {
              ...json(stationList, listExample),
              "application/geo+json": { schema: featureList, example: featureListExample },
              ...lineForms,
            },
            fixed,
          ),
        },
        ...unchanged(["X-Service-Cache"]),
      },
      problems: ["bad-bbox", "missing-area", "bad-grade", "city-not-found"],
      takes: ["If-None-Match"],
    },
    query: areaQuery,
    read: readAreaQuery,
    secretParameters: ["lat", "lon", "ids"],
    lookUp: createRequestReader(services),
    async handle(ctx) {
      const request = ctx.state.request ?? orThrow<AreaRequest>(readRequest(services, ctx, fixed));
      const { area, format, question } = request;
      if (fixed === undefined) ctx.set("Vary", "Accept");
      if (request.filters.opened !== undefined) await services.model.readHours(services.clock());
      const shared =
        question &&
        (await services.rectangles.find(question, ctx.state.quota.found, () =>
          makeShared(services, ctx, request, question),
        ));
      if (area.kind === "box") ctx.set("X-Service-Cache", shared?.isHit ? "hit" : "miss");
      if (!shared) return services.lists.send(ctx, findList(services, ctx, request));
      const { etag, asOfMs, count, truncated } = shared.rectangle;
      const rest = { asOfMs, count, truncated, lifetimeMs: services.config.statusLifetimeMs };
      return sendList(ctx, { etag, rest, format }, shared);
    },
  });
}
