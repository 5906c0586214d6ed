import type { Static, TSchema } from "typebox";
import type { Page } from "#api/http/app.ts";
import { bodyLimitDefault, readBody } from "#api/http/body.ts";
import type { Answer, Context } from "#api/http/context.ts";
import { networkLimit } from "#api/pages/network-limit.ts";
import { refuseForeign } from "#api/pages/same-site.ts";
import { queryReader, type QueryReader } from "#api/http/query-reader.ts";
import type { Reply } from "#api/http/route.ts";
import type { Services } from "#api/http/services.ts";
import { isRefusal, refuse, type Refusal } from "#src/contract/refusals.ts";
import { decodePart } from "#src/contract/query.ts";
import { compileCheck, type Check } from "#src/infrastructure/validation.ts";

export interface PageRequest<Viewer, Query = unknown, Body = unknown> {
  /** Who is signed in; null in a call that is open to everybody. */
  viewer: Viewer;
  /** Path parameters, percent-decoded. */
  params: Record<string, string>;
  query: Query;
  body: Body;
  /** For cookies and addresses; the answer is given back. */
  ctx: Context;
}

/** One call of a page's script to the server: a schema, one call, one answer. */
export interface PageCall<Viewer, Query extends TSchema = TSchema, Body extends TSchema = TSchema> {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Below the app's base, parameters in braces: `/keys/{id}`. */
  path: string;
  /** What the viewer must be allowed to; the app's `admit` knows what it means. */
  role?: string;
  query?: Query;
  /** A JSON body of at most 64 KiB. */
  body?: Body;
  handle(
    request: PageRequest<Viewer, Static<Query>, Static<Body>>,
  ): Promise<Reply | Refusal> | Reply | Refusal;
}

/** Gives the literal of a call its types: `pageCall<DashboardViewer>()({ … })`. */
export const pageCall =
  <Viewer>() =>
  <Query extends TSchema, Body extends TSchema>(
    definition: PageCall<Viewer, Query, Body>,
  ): PageCall<Viewer> =>
    definition as unknown as PageCall<Viewer>;

export interface PageCalls<Viewer> {
  /** `/dashboard/api` */
  base: string;
  /** Without a session: signing in. */
  open: readonly PageCall<null>[];
  /** For whom `admit` lets in. */
  calls: readonly PageCall<Viewer>[];
  /** The viewer of this request, or why it is refused. */
  admit(ctx: Context, call: PageCall<Viewer>): Promise<Viewer | Refusal>;
}

/**
 * Everything below `base`: same-origin JSON calls of a page's script, unmetered. In this order: 429 for a network
 * that calls without end, 404, 405, 403 for foreign pages, `admit`, 422, the call. Refusals are problem+json; nothing is kept by any cache.
 */
export function jsonPage<Viewer extends object>(
  services: Pick<Services, "config" | "clock">,
  { base, open, calls, admit }: PageCalls<Viewer>,
): Page {
  const ready = [
    ...open.map((call) => prepare(call, async () => null)),
    ...calls.map((call) => prepare(call, (ctx) => admit(ctx, call))),
  ];
  const { config } = services;
  const tooMany = networkLimit(services, config.pageCallsPerMinute, "calls");
  return async (ctx, next) => {
    const { path, ip } = ctx.state;
    if (!path.startsWith(`${base}/`)) return next();
    const limited = tooMany(ip);
    if (limited !== null) return limited;
    const here = ready.filter(({ pattern }) => pattern.test(path.slice(base.length)));
    if (here.length === 0) return refuse("not-found", "No such call.");
    const method = ctx.method === "HEAD" ? "GET" : ctx.method;
    const found = here.find((one) => one.method === method);
    if (found === undefined) {
      const Allow = here.map((one) => one.method).join(", ");
      return refuse("method-not-allowed", `Use one of: ${Allow}.`, { headers: { Allow } });
    }
    const foreign = method === "GET" ? null : refuseForeign(ctx, config);
    return foreign ?? uncached(await found.run(ctx, path.slice(base.length)));
  };
}

interface Ready {
  method: string;
  pattern: RegExp;
  run(ctx: Context, path: string): Promise<Reply | Refusal>;
}

function prepare<Viewer extends object | null>(
  call: PageCall<Viewer>,
  admit: (ctx: Context) => Promise<Viewer | Refusal>,
): Ready {
  const names = [...call.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const pattern = new RegExp(`^${call.path.replace(/\{\w+\}/g, "([^/]+)")}$`);
  const readQuery = queryReader(call.query);
  const checkBody = call.body === undefined ? null : compileCheck(call.body, "body");
  return {
    method: call.method,
    pattern,
    run: async (ctx, path) => {
      const viewer = await admit(ctx);
      if (viewer !== null && isRefusal(viewer)) return viewer;
      const given = await readRequest(ctx, readQuery, checkBody);
      if ("problem" in given) return given;
      const raw = pattern.exec(path)?.slice(1) ?? [];
      const params = raw.map(decodePart);
      if (params.includes(null)) return refuse("not-found", "No such call.");
      return call.handle({
        viewer,
        params: Object.fromEntries(names.map((name, i) => [name, params[i]!])),
        ...given,
        ctx,
      });
    },
  };
}

async function readRequest(
  ctx: Context,
  readQuery: QueryReader,
  checkBody: Check | null,
): Promise<{ query: unknown; body: unknown } | Refusal> {
  const query = readQuery(ctx.state.search);
  if (query.faults !== undefined) return refuse("validation-failed", query.faults);
  if (checkBody === null) return { query: query.values, body: undefined };
  const read = await readBody(ctx.req, bodyLimitDefault);
  if (read.refused !== undefined) return read.refused;
  const faults = checkBody(read.value);
  if (faults !== null) return refuse("validation-failed", faults);
  return { query: query.values, body: read.value };
}

const uncached = (answer: Reply | Refusal): Answer =>
  isRefusal(answer)
    ? answer
    : { ...answer, headers: { "Cache-Control": "no-store", ...answer.headers } };
