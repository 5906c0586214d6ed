import { orThrow } from "#api/http/errors.ts";
import { json } from "#api/openapi/answers.ts";
import {
  formsOf,
  lineForms,
  lineHeadersOf,
  operationIdOf,
  sendList,
  pickFormat,
  unchanged,
  etagOf,
  schemaVersion,
  type List,
} from "#api/stations/format.ts";
import type { Format } from "#snapshots/model/forms.ts";
import {
  featureList,
  featureListExample,
  listExample,
  stationList,
} from "#src/contract/shapes/stations.ts";
import { route, type ApiContext } from "#api/http/route.ts";
import {
  areaQuery,
  readAreaQuery,
  type AreaQuery,
  type ReadFilters,
  readWhere,
  type Where,
} from "#api/stations/stations-query.ts";
import type { ReadDeps } from "#api/stations/deps.ts";
import type { PendingAnswer, Question } from "#api/stations/rectangles.ts";
import type { Sort } from "#snapshots/model/queries.ts";
import { isRefusal, type Refusal } from "#src/contract/refusals.ts";

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

/** Most stations of one answer (docs/contract.md 8). */
export const stationsMax = 4000;

/** A request of /stations. */
interface AreaRequest extends Pick<Where, "area" | "name">, ReadFilters {
  sort: { sort?: Sort };
  format: Format;
  /** With a byte order mark; CSV only. */
  bom: boolean;
  /** The rectangle to look for in the cache; null when the answer is not shared. */
  question: Question | null;
}

/**
 * Reads a request for a look-up in the cache: before it is counted, so it must cost little. The last reading is kept
 * with the query, which is the same object for the same text (reading takes a tenth of a hit's CPU time).
 */
function createRequestReader(
  services: ReadDeps,
): (ctx: ApiContext<AreaQuery>) => AreaRequest | null {
  const known = new WeakMap<AreaQuery, { by: string; request: AreaRequest }>();
  return (ctx) => {
    const { key, query } = ctx.state;
    if (key.kind === "secret") return null;
    const by = `${key.partner.cacheTtlS} ${ctx.headers.accept} ${services.model.brands.version()}`;
    const last = known.get(query);
    if (last?.by === by) return last.request;
    const request = readRequest(services, ctx);
    if (isRefusal(request)) return null;
    // A city's area may change, so its request is read anew.
    if ((query.city ?? "") === "") known.set(query, { by, request });
    return request;
  };
}

/** Reads a request of /stations; `fixed`: the form that the path names. */
function readRequest(
  services: ReadDeps,
  ctx: ApiContext<AreaQuery>,
  fixed?: Format,
): AreaRequest | Refusal {
  const { key, query } = ctx.state;
  const { filters, filtersKey } = query;
  const found = readWhere(services, query, key.kind === "publishable");
  if (isRefusal(found)) return found;
  const { area, name } = found;
  const order = query.sort || found.sort;
  const sort = order === undefined ? {} : { sort: order };
  const format = fixed ?? pickFormat(ctx);
  const bom = query.bom === true && format === "csv";
  // An edit of the aliases changes what these find, though no station changes (decisions 14.26).
  const spelt = filters.brand || filters.words?.length ? services.model.brands.version() : "";
  const parts = [schemaVersion, filtersKey, sort, format, spelt];
  const question = area.kind === "box" ? services.rectangles.question(key, area.box, parts) : null;
  return { area, name, filters, filtersKey, sort, format, bom, question };
}

/** Finds the stations. */
function findList(
  services: ReadDeps,
  ctx: ApiContext,
  request: AreaRequest,
  now = services.clock(),
): List {
  const { area, name, filters, filtersKey, sort, format, bom } = request;
  const { model, config } = services;
  const answer: ReturnType<typeof model.query> & { missing?: string[] } =
    area.kind === "ids"
      ? model.byIds(area.ids, filters, now)
      : model.query({ area, filters, ...sort, limit: stationsMax, now });
  const { count, sum, truncated, missing } = answer;
  const query = [name, filtersKey, sort, truncated, ...(missing ?? []), ...(bom ? ["bom"] : [])];
  const etag = etagOf(ctx, { route: "/stations", query, format, count, sum });
  const lifetimeMs = config.statusLifetimeMs;
  const rest = { count, asOfMs: services.asOf(now), lifetimeMs, truncated, missing, bom };
  return { etag, answer, rest, format };
}

/** Makes the answer for the cache. */
function makeShared(
  services: ReadDeps,
  ctx: ApiContext,
  request: AreaRequest,
  { box }: Question,
): PendingAnswer {
  const now = services.clock();
  const list = findList(services, ctx, request, now);
  const { asOfMs, count, truncated } = list.rest;
  const nextAt = services.model.nextChange({ kind: "box", box }, now, request.filters);
  const { coding, ...bodies } = services.lists.pack(list, ctx.headers["accept-encoding"]);
  return { head: { etag: list.etag, coding, asOfMs, count, truncated }, nextAt, ...bodies };
}
