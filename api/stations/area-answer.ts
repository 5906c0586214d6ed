import { LRUCache } from "lru-cache";
import { pickEncoding } from "#api/http/encoding.ts";
import { sendJson } from "#api/http/respond.ts";
import type { ApiContext } from "#api/http/route.ts";
import type { Services } from "#api/http/services.ts";
import { pickFormat, setFormat } from "#api/stations/format.ts";
import { etagOf, isUnchanged, schemaVersion } from "#api/stations/presenters.ts";
import type { Making, Question } from "#api/stations/rectangles.ts";
import {
  type AreaQuery,
  type ReadFilters,
  readWhere,
  type Where,
} from "#api/stations/stations-query.ts";
import type { ListRest } from "#snapshots/model/envelope.ts";
import type { Format } from "#snapshots/model/forms.ts";
import { share } from "#snapshots/model/long-buffers.ts";
import type { Piece } from "#snapshots/model/selection.ts";
import type { Rectangle } from "#snapshots/rectangles/rectangle-store.ts";
import { isRefusal, type Refusal } from "#src/contract/refusals.ts";

/** Most stations of one answer (docs/contract.md 8). */
export const stationsMax = 4000;

type Found = ReturnType<Services["model"]["query"]> & { missing?: string[] };

/** What a request asks for. */
export interface Asked extends Pick<Where, "area" | "name">, ReadFilters {
  sort: { sort?: "distance" };
  format: Format;
  /** What to look for in the cache; null when the answer is not shared. */
  question: Question | null;
}

/** Its answer, not yet written. */
export interface Computed {
  found: Found;
  etag: string;
  rest: ListRest;
  now: number;
}

/** Queries that are remembered: maps ask for the same views again and again. */
const rememberedMax = 500;
const rememberedLength = 300;

/**
 * Reads the query of /stations for a look-up in the cache: before the request is counted, so it must cost little. What
 * was read lately is remembered (of the CPU time of a hit, reading takes a tenth).
 */
export function createAskedReader(
  services: Services,
): (ctx: ApiContext<AreaQuery>) => Asked | null {
  const remembered = new LRUCache<string, Asked>({ max: rememberedMax });
  return (ctx) => {
    const { key, query } = ctx.state;
    if (key.kind === "secret") return null;
    const name = `${key.partner.cacheTtlS} ${ctx.headers.accept} ${ctx.querystring}`;
    const known = remembered.get(name);
    if (known !== undefined) return known;
    const asked = readAsked(services, ctx);
    if (isRefusal(asked)) return null;
    // Cities change, and a long query is rare.
    const isCity = (query.city ?? "") !== "";
    if (!isCity && name.length < rememberedLength) remembered.set(name, asked);
    return asked;
  };
}

/** Reads the query of /stations; `fixed`: the form that the path names. */
export function readAsked(
  services: Services,
  ctx: ApiContext<AreaQuery>,
  fixed?: Format,
): Asked | Refusal {
  const { key, query } = ctx.state;
  const { filters, filtersKey } = query;
  const found = readWhere(services, query, key.kind === "publishable");
  if (isRefusal(found)) return found;
  const { area, name, sorted = query.sort === "distance" } = found;
  const sort = sorted ? ({ sort: "distance" } as const) : {};
  const format = fixed ?? pickFormat(ctx);
  const parts = [schemaVersion, filtersKey, sort, format];
  const question = area.kind === "box" ? services.rectangles.question(key, area.box, parts) : null;
  return { area, name, filters, filtersKey, sort, format, question };
}

/** Finds the stations. */
export function compute(
  services: Services,
  ctx: ApiContext,
  { area, name, filters, filtersKey, sort, format }: Asked,
): Computed {
  const now = services.clock();
  const { model } = services;
  const found: Found =
    area.kind === "ids"
      ? model.byIds(area.ids, filters, now)
      : model.query({ area, filters, ...sort, limit: stationsMax, now });
  const { count, sum, truncated, missing } = found;
  const query = [name, filtersKey, sort, truncated, ...(missing ?? [])];
  const tag = { route: "/stations", query };
  const etag = etagOf(ctx, { ...tag, format, count, sum });
  const lifetimeMs = services.config.statusLifetimeMs;
  const rest = { count, asOfMs: services.asOf(now), lifetimeMs, truncated, missing };
  return { found, etag, rest, now };
}

const takesGzip = ({ headers }: ApiContext): boolean =>
  pickEncoding(headers["accept-encoding"], ["gzip"]) === "gzip";

/**
 * Finds the stations for the cache, which stores them packed. For a caller who takes them unpacked they are written
 * once for both.
 */
export function computeToStore(services: Services, ctx: ApiContext, asked: Asked): Computed {
  const computed = compute(services, ctx, asked);
  if (takesGzip(ctx)) return computed;
  const { found } = computed;
  let pieces: Piece[] | null = null;
  const make = (): Piece[] => {
    const made = found.pieces();
    for (const { bytes } of made) share(bytes);
    return made;
  };
  return { ...computed, found: { ...found, pieces: () => (pieces ??= make()) } };
}

/** An answer as it is stored. */
export function making(
  { model, lists }: Services,
  { area, filters, format }: Asked,
  { found, etag, rest, now }: Computed,
): Making {
  const { count, asOfMs, truncated } = rest;
  if (area.kind === "ids") throw new Error("only rectangles are stored");
  const nextAt = model.nextChange(area, now, filters.freshH);
  const gzip = lists.gzip(etag, found, rest, format).then((pieces) => Buffer.concat(pieces));
  return { etag, asOfMs, count, truncated, nextAt, gzip };
}

/** Sends an answer of the cache, or one that was just made for it; unpacked to those who do not take gzip. */
export async function sendRectangle(
  { config, lists, plainRectangles }: Services,
  ctx: ApiContext,
  { format }: Asked,
  { rectangle, isHit, made }: { rectangle: Rectangle; isHit: boolean; made: Computed | null },
): Promise<void> {
  ctx.set("X-Service-Cache", isHit ? "hit" : "miss");
  const { etag, asOfMs, count, truncated, gzip } = rectangle;
  if (isUnchanged(ctx, etag, asOfMs)) return;
  const rest = { count, asOfMs, truncated, lifetimeMs: config.statusLifetimeMs };
  const isPacked = takesGzip(ctx);
  if (!isPacked && made !== null) return lists.send(ctx, etag, made.found, rest, format);
  if (isPacked) ctx.set("Content-Encoding", "gzip");
  sendJson(ctx, isPacked ? gzip : await plainRectangles(gzip));
  setFormat(ctx, format, rest);
}
