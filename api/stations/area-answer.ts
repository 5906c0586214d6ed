import { LRUCache } from "lru-cache";
import { type Encoding, pickEncoding } from "#api/http/encoding.ts";
import { sendJson, sendJsonSlices } from "#api/http/respond.ts";
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
import { giveBack, share } from "#snapshots/model/long-buffers.ts";
import type { Coding, Rectangle } from "#snapshots/rectangles/rectangle-store.ts";
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
  const { bom } = ctx.state.query as AreaQuery;
  const marked = bom === true && format === "csv" ? ["bom"] : [];
  const query = [name, filtersKey, sort, truncated, ...(missing ?? []), ...marked];
  const tag = { route: "/stations", query };
  const etag = etagOf(ctx, { ...tag, format, count, sum });
  const lifetimeMs = services.config.statusLifetimeMs;
  const rest = { count, asOfMs: services.asOf(now), lifetimeMs, truncated, missing };
  return { found, etag, rest, now };
}

/** What the caller takes more of brotli and gzip; brotli between equals. */
const codingOf = ({ headers }: ApiContext): Encoding =>
  pickEncoding(headers["accept-encoding"], ["br", "gzip"]);

/** True when the caller takes a body that is packed so. */
const takes = ({ headers }: ApiContext, coding: Coding): boolean =>
  pickEncoding(headers["accept-encoding"], [coding]) === coding;

/** An answer for the cache, and the same unpacked where its caller takes it so and it was written anyway. */
export interface Made {
  computed: Computed;
  making: Making;
  plain: Buffer | null;
}

/** With so much of a list deflated already, gzip of the rest costs less than brotli of the whole. */
const readyPart = 0.4;

/**
 * Makes an answer for the cache. Lists much of which is deflated already become gzip. Others are packed anew, as brotli
 * where the caller does not want gzip more: brotli costs less to make.
 */
export function make(services: Services, ctx: ApiContext, asked: Asked): Made {
  const { area, filters, format } = asked;
  if (area.kind === "ids") throw new Error("only rectangles are stored");
  const computed = compute(services, ctx, asked);
  const { found, etag, rest, now } = computed;
  const { count, asOfMs, truncated } = rest;
  const nextAt = services.model.nextChange(area, now, filters.freshH);
  const head = { etag, asOfMs, count, truncated, nextAt };
  const coding = codingOf(ctx) === "gzip" ? "gzip" : "br";
  const isBrOnly = takes(ctx, "br") && !takes(ctx, "gzip");
  const ready = isBrOnly ? 0 : found.wholePart();
  if (ready > (coding === "gzip" ? 0 : readyPart)) {
    const parts = services.lists.gzip(etag, found, rest, format);
    const body = parts.then((some) => Buffer.concat(some));
    return { computed, making: { ...head, coding: "gzip", body }, plain: null };
  }
  const { plain, body } = services.lists.pack(found, rest, format, coding);
  const isSentToo = !takes(ctx, coding);
  if (isSentToo) share(plain);
  return { computed, making: { ...head, coding, body }, plain: isSentToo ? plain : null };
}

/** Sends an answer of the cache, or one that was just made for it. */
export async function sendRectangle(
  { config, lists, recoded }: Services,
  ctx: ApiContext,
  { format }: Asked,
  { rectangle, isHit, made }: { rectangle: Rectangle; isHit: boolean; made: Made | null },
): Promise<void> {
  ctx.set("X-Service-Cache", isHit ? "hit" : "miss");
  const { etag, asOfMs, count, truncated, coding, body } = rectangle;
  if (isUnchanged(ctx, etag, asOfMs)) return made?.plain ? giveBack(made.plain) : undefined;
  const rest = { count, asOfMs, truncated, lifetimeMs: config.statusLifetimeMs };
  if (takes(ctx, coding)) {
    ctx.set("Content-Encoding", coding);
    sendJson(ctx, body);
  } else if (made !== null) {
    if (made.plain === null) return lists.send(ctx, etag, made.computed.found, rest, format);
    sendJsonSlices(ctx, [made.plain]);
  } else {
    const other = codingOf(ctx);
    if (other !== "identity") ctx.set("Content-Encoding", other);
    sendJson(ctx, await recoded(rectangle, other));
  }
  setFormat(ctx, format, rest);
}
