import type { ApiContext } from "#api/http/route.ts";
import type { ReadDeps } from "#api/stations/deps.ts";
import { pickFormat } from "#api/stations/format.ts";
import type { List } from "#api/stations/list-packer.ts";
import { etagOf, schemaVersion } from "#api/stations/presenters.ts";
import type { PendingAnswer, Question } from "#api/stations/rectangles.ts";
import {
  type AreaQuery,
  type ReadFilters,
  readWhere,
  type Where,
} from "#api/stations/stations-query.ts";
import type { Sort } from "#snapshots/model/queries.ts";
import type { Format } from "#snapshots/model/forms.ts";
import { isRefusal, type Refusal } from "#src/contract/refusals.ts";

/** Most stations of one answer (docs/contract.md 8). */
export const stationsMax = 4000;

/** A request of /stations. */
export interface AreaRequest extends Pick<Where, "area" | "name">, ReadFilters {
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
export function createRequestReader(
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
export function readRequest(
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
export function findList(
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
export function makeShared(
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
