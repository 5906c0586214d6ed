import { between } from "#src/contract/shapes/kinds.ts";
import { ageOf } from "#src/domain/age.ts";
import { minuteMs } from "#src/domain/units.ts";
import { Type } from "typebox";
import {
  formsOf,
  lineForms,
  lineHeadersOf,
  operationIdOf,
  pickFormat,
  sendAs,
  etagOf,
  isUnchanged,
  unchanged,
} from "#api/stations/format.ts";
import { refused } from "#api/http/errors.ts";
import { sendRepresentation } from "#api/http/respond.ts";
import { json } from "#api/openapi/answers.ts";
import {
  featureListExample,
  featurePage,
  listExample,
  stationPage,
} from "#src/contract/shapes/stations.ts";
import { type ApiContext, route } from "#api/http/route.ts";
import { isRefusal, type Refusal } from "#src/contract/refusals.ts";
import { makeCursor, readCursor, type Format } from "#snapshots/model/forms.ts";
import {
  csvParameters,
  filterParameters,
  readFilters,
  type ReadFilters,
} from "#api/stations/stations-query.ts";
import type { ReadDeps } from "#api/stations/deps.ts";
import { type Dump, longestPage, type Whole } from "#snapshots/dumps/dump.ts";
import { isFixed, usualPage } from "#snapshots/dumps/fixed-sets.ts";
import { filtersKey } from "#snapshots/model/filters.ts";

const query = Type.Object({
  cursor: Type.Optional(
    Type.String({ default: "", description: "`next_cursor` of the page before" }),
  ),
  limit: Type.Optional(between("Page size", 1, longestPage, usualPage)),
  ...filterParameters,
  ...csvParameters,
});

const noFilters = filtersKey({});

/** GET /stations/all, docs/contract.md 4.2; with `fixed` the same in one form, whatever `Accept` says. */
export const allStationsRoute = (services: ReadDeps, fixed?: Format) =>
  route({
    method: "GET",
    path: fixed === undefined ? "/stations/all" : `/stations/all.${fixed}`,
    access: "secret",
    summary: `The whole country with statuses, in id order${fixed === undefined ? "" : `, as ${fixed}`}`,
    answers: {
      operationId: operationIdOf("dumpStations", fixed),
      tag: "Stations",
      description:
        "Follow `next_cursor` with the same filters until it is empty, or take all in one page of 30000. Every page carries the first page's `as_of`, so a delta from it misses nothing. One ETag covers the whole dump.",
      replies: {
        200: {
          description: "A page of the country, in the forms of /stations.",
          headers: ["ETag"],
          sometimes: [
            "Last-Modified",
            ...lineHeadersOf(fixed),
            ...(lineHeadersOf(fixed).length > 0 ? (["X-Next-Cursor"] as const) : []),
          ],
          forms: formsOf(
            {
              ...json(stationPage, { ...listExample, next_cursor: "" }),
              "application/geo+json": {
                schema: featurePage,
                example: { ...featureListExample, next_cursor: "" },
              },
              ...lineForms,
            },
            fixed,
          ),
        },
        ...unchanged(["Last-Modified"]),
      },
      // `city-not-found` is for a name in bytes that are not percent-encoded, which no parser takes.
      problems: ["bad-grade", "bad-cursor", "city-not-found"],
      takes: ["If-None-Match"],
    },
    query,
    read(query): PageRequest | Refusal {
      const read = readFilters(query);
      if (isRefusal(read)) return read;
      const { cursor = "", limit = usualPage, bom = false } = query;
      return { ...read, cursor, limit, bom };
    },
    async handle(ctx) {
      const asked = ctx.state.query;
      const format = fixed ?? pickFormat(ctx);
      if (fixed === undefined) ctx.res.setHeader("Vary", "Accept");
      if (asked.filters.opened !== undefined) await services.model.readHours(services.clock());
      const now = services.clock();
      const dump = asked.cursor === "" && format === "json" ? dumpOf(services, asked, now) : null;
      setLastModified(services, ctx, dump?.builtAtMs ?? now);
      if (dump === null) return sendPage(services, ctx, format, asked);
      if (isUnchanged(ctx, tagOf(ctx, format, asked, dump), dump.asOfMs)) return;
      await sendRepresentation(ctx, {
        offers: dump.br.length > 0 ? ["br", "gzip"] : ["gzip"],
        // A dump without brotli is compressed by `respond` for a caller that takes only brotli.
        coded: (coding) => (dump[coding].length > 0 ? dump[coding] : null),
        plain: () => services.dumps.plain(dump),
      });
    },
  });

interface PageRequest extends ReadFilters {
  bom: boolean;
  cursor: string;
  limit: number;
}

const tagOf = (
  ctx: ApiContext,
  format: Format,
  { filtersKey: key, cursor, limit, bom }: PageRequest,
  { count, sum }: Whole,
): string => {
  const query = [key, cursor, limit, ...(bom && format === "csv" ? ["bom"] : [])];
  return etagOf(ctx, { route: "/stations/all", format, query, count, sum });
};

/**
 * Sets the time of the country's last change, as far as the answer can show it. `If-Modified-Since` is ignored
 * (decisions 7.48).
 */
function setLastModified({ model, clock }: ReadDeps, ctx: ApiContext, atMostMs: number): void {
  const changedAt = model.lastChange(clock());
  if (changedAt !== null)
    ctx.res.setHeader("Last-Modified", new Date(Math.min(changedAt, atMostMs)).toUTCString());
}

async function sendPage(
  services: ReadDeps,
  ctx: ApiContext,
  format: Format,
  asked: PageRequest,
): Promise<void> {
  const { filters, filtersKey: key, cursor, limit, bom } = asked;
  const from = cursor === "" ? null : readCursor(cursor, key);
  if (cursor !== "" && from === null) throw refused("bad-cursor");
  if (from !== null && ageOf(from.asOfMs, services.clock()) < -minuteMs)
    throw refused("bad-cursor");
  if (from !== null && !(await caughtUp(services, from.asOfMs)))
    throw refused("upstream-unavailable", "This process is catching up with the database.", {
      retryAfterS: 2,
    });
  const now = services.clock();
  const page = services.model.page({ filters, after: from?.after ?? "", limit, now });
  // Every page carries the first one's time: a delta from it misses nothing that changed in between.
  const asOfMs = from?.asOfMs ?? services.asOf(now);
  const nextCursor = page.next === "" ? "" : makeCursor({ after: page.next, asOfMs }, key);
  const { count, whole } = page;
  const lifetimeMs = services.config.statusLifetimeMs;
  if (isUnchanged(ctx, tagOf(ctx, format, asked, whole), asOfMs)) return;
  sendAs(ctx, format, page, { count, asOfMs, lifetimeMs, truncated: false, nextCursor, bom });
}

/** The snapshots worker's dump of the first page of these filters, when it may be served. */
function dumpOf(
  { model, dumps }: ReadDeps,
  { filters, filtersKey: key, limit }: PageRequest,
  now: number,
): Dump | null {
  // A station may have opened since the dump was made.
  if (filters.opened !== undefined) return null;
  const whole = (): Whole => model.whole(now, filters);
  // The country and fixed filters always have a dump of the longest page. A list that fits into `limit` stands in it as
  // a whole.
  if (key !== noFilters && !isFixed(filters)) return dumps.set({ filters, limit }, whole, now);
  const longest =
    key === noFilters
      ? dumps.complete(whole, now)
      : dumps.set({ filters, limit: longestPage }, whole, now);
  return limit === longestPage || (longest?.count ?? whole().count) <= limit
    ? longest
    : dumps.set({ filters, limit }, whole, now);
}

const lookMs = 50;
const patienceMs = 1500;

/**
 * A cursor may come from a process that was a little ahead. Its time promises changes that this one must have
 * seen before it may repeat the promise.
 */
async function caughtUp(services: ReadDeps, asOfMs: number): Promise<boolean> {
  const isBehind = (): boolean => services.asOf(services.clock()) < asOfMs;
  if (isBehind()) services.follower.refresh().catch(() => undefined);
  for (let waitedMs = 0; isBehind(); waitedMs += lookMs) {
    if (waitedMs >= patienceMs) return false;
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
  return true;
}
