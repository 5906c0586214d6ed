import { Type } from "typebox";
import { pickEncoding } from "#api/http/encoding.ts";
import { type Format, pickFormat, presentAs } from "#api/stations/format.ts";
import { conditional, etagOf } from "#api/stations/presenters.ts";
import { allStationsAnswers } from "#api/stations/stations-answers.ts";
import { type ApiRequest, type Reply, route } from "#api/http/route.ts";
import { makeCursor, readCursor } from "#snapshots/model/envelope.ts";
import { filterParameters, readFilters } from "#api/stations/stations-query.ts";
import type { Services } from "#api/http/services.ts";
import type { Dump } from "#snapshots/dumps/dump.ts";
import { type Filters, filtersKey } from "#snapshots/model/filters.ts";
import type { Whole } from "#snapshots/dumps/dump.ts";
import { isRefusal, refuse, type Refusal } from "#src/contract/refusals.ts";

const query = Type.Object({
  cursor: Type.Optional(
    Type.String({ default: "", description: "`next_cursor` of the page before" }),
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 30_000, default: 10_000, description: "Page size" }),
  ),
  ...filterParameters,
});

const noFilters = filtersKey({});

/** GET /stations/all, partner-api.md 4.2. */
export const allStationsRoute = (services: Services) =>
  route({
    method: "GET",
    path: "/stations/all",
    access: "secret",
    summary: "The whole country with statuses, in id order",
    answers: allStationsAnswers,
    query,
    handle(request) {
      const { cursor = "", limit = 10_000 } = request.query;
      const read = readFilters(request.query);
      if (isRefusal(read)) return read;
      const { filters } = read;
      const format = pickFormat(request.headers.accept);
      if (cursor === "" && format === "json") {
        const dump = dumpOf(services, filters, limit, services.clock());
        if (dump !== null) return answerDump(services, request, dump, { filters, limit });
      }
      return answerPage(services, request, format, { filters, cursor, limit });
    },
  });

interface PageAsked {
  filters: Filters;
  cursor: string;
  limit: number;
}

const headers = { Vary: "Accept" };

const tagOf = (
  request: ApiRequest,
  format: Format,
  { filters, cursor, limit }: PageAsked,
  { count, sum }: Whole,
): string => {
  const query = [filtersKey(filters), cursor, limit];
  return etagOf(request, { route: "/stations/all", format, query, count, sum });
};

/** By page length: the whole country's dump answers several. Its filters and who may ask are the same for all. */
const dumpTags = new WeakMap<Dump, Map<number, string>>();

function answerDump(
  services: Services,
  request: ApiRequest,
  dump: Dump,
  { filters, limit }: { filters: Filters; limit: number },
): Reply | Promise<Reply> {
  let tags = dumpTags.get(dump);
  if (tags === undefined) dumpTags.set(dump, (tags = new Map()));
  let etag = tags.get(limit);
  if (etag === undefined) {
    etag = tagOf(request, "json", { filters, cursor: "", limit }, dump);
    tags.set(limit, etag);
  }
  return conditional(request, { etag, asOfMs: dump.asOfMs, headers }, () =>
    sendDump(services, request, dump),
  );
}

async function answerPage(
  services: Services,
  request: ApiRequest,
  format: Format,
  asked: PageAsked,
): Promise<Reply | Refusal> {
  const { filters, cursor, limit } = asked;
  const key = filtersKey(filters);
  const from = cursor === "" ? null : readCursor(cursor, key);
  if (cursor !== "" && from === null)
    return refuse("bad-cursor", "cursor is next_cursor of the page before, with the same filters.");
  if (from !== null && !(await caughtUp(services, from.asOfMs)))
    return refuse("upstream-unavailable", "This process is catching up with the database.", {
      retryAfterS: 2,
    });
  const now = services.clock();
  const page = services.model.page({ filters, after: from?.after ?? "", limit, now });
  // Every page carries the first one's time: a delta from it misses nothing that changed in between.
  const asOfMs = from?.asOfMs ?? services.asOf(now);
  const nextCursor = page.next === "" ? "" : makeCursor({ after: page.next, asOfMs }, key);
  const { count, whole } = page;
  const lifetimeMs = services.config.statusLifetimeMs;
  return conditional(request, { etag: tagOf(request, format, asked, whole), asOfMs, headers }, () =>
    presentAs(format, page, { count, asOfMs, lifetimeMs, truncated: false, nextCursor }),
  );
}

/** What the snapshots worker has made of the first page of these filters, when it may be served. */
function dumpOf(
  { model, dumps }: Services,
  filters: Filters,
  limit: number,
  now: number,
): Dump | null {
  if (filtersKey(filters) === noFilters) {
    const dump = dumps.whole(() => model.whole(now), now);
    if ((dump?.count ?? model.whole(now).count) <= limit) return dump;
  }
  return dumps.set({ filters, limit }, () => model.whole(now, filters), now);
}

function sendDump(services: Services, request: ApiRequest, dump: Dump): Reply | Promise<Reply> {
  const encoding = pickEncoding(request.headers["accept-encoding"]);
  if (encoding === "identity") return services.dumps.plain(dump).then((body) => ({ body }));
  return {
    body: dump[encoding === "br" ? "br" : "gzip"],
    headers: { "Content-Encoding": encoding },
  };
}

const lookMs = 50;
const patienceMs = 1500;

/**
 * A cursor may come from a process that was a little ahead. Its time promises changes that this one must have
 * seen before it may repeat the promise.
 */
async function caughtUp(services: Services, asOfMs: number): Promise<boolean> {
  for (let waitedMs = 0; services.asOf(services.clock()) < asOfMs; waitedMs += lookMs) {
    if (waitedMs >= patienceMs) return false;
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
  return true;
}
