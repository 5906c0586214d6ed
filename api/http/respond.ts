import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline, Readable } from "node:stream";
import {
  compress,
  compressPieces,
  pickEncoding,
  refusesIdentity,
  taken,
} from "#api/http/negotiation.ts";
import { countRefusal, countUnchanged, limitHeaders } from "#api/http/middleware.ts";
import { describe, problemHeaders, problemObject, refusalOf, Refused } from "#api/http/errors.ts";
import type { HttpDeps } from "#api/http/deps.ts";
import type { Context, Middleware, Written } from "#api/http/route.ts";
import type { Coding } from "#snapshots/rectangles/rectangle-store.ts";
import { createUnread } from "#api/http/unread.ts";
import { refuse, type Refusal } from "#src/contract/refusals.ts";
import { giveBack } from "#snapshots/model/long-buffers.ts";
import { viewerNetwork } from "#src/infrastructure/addresses.ts";

const compressMin = 1024;
const jsonType = "application/json; charset=utf-8";

/**
 * Answers every request, after the handler has set `ctx.body` or something was thrown: the headers that every answer
 * carries, the encoding, a refusal as problem+json. Koa sends what lies in `ctx.body`; slices and streams are sent here.
 */
export function respond(deps: HttpDeps): Middleware {
  const services = { ...deps, unread: createUnread(deps) };
  return async (ctx, next) => {
    try {
      if (hasTwoHosts(ctx.req)) {
        ctx.state.limits = services.meter.anonymous(viewerNetwork(ctx.state.ip));
        throw new Refused(twoHosts);
      }
      await next();
      // A server of files has answered.
      if (ctx.respond === false) return;
      const encoding = finish(services, ctx);
      if (encoding !== undefined) await encoding;
    } catch (error) {
      sendRefusal(services, ctx, refusalOf(services.log, ctx, error));
    }
  };
}

/** Node keeps the first `Host` and says nothing of a second; a proxy in front may have gone by that one. */
function hasTwoHosts({ rawHeaders }: IncomingMessage): boolean {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (name.length === 4 && name.toLowerCase() === "host") hosts += 1;
  }
  return hosts > 1;
}

const twoHosts: Refusal = refuse(
  "validation-failed",
  [{ loc: ["header", "host"], msg: "Host should be sent once", type: "http_invalid" }],
  { headers: { Connection: "close" } },
);

function sendRefusal(services: HttpDeps, ctx: Context, refusal: Refusal): void {
  if (ctx.headerSent) {
    ctx.res.destroy();
    return;
  }
  // The handler's headers belong to an answer that does not come; a server of files may have failed.
  ctx.respond = true;
  for (const name of ctx.res.getHeaderNames()) if (name !== "set-cookie") ctx.remove(name);
  const problem = problemObject(refusal, services.config.problemBase, ctx.state.requestId);
  ctx.status = problem.status;
  ctx.state.code = refusal.code;
  countRefusal(services, ctx, refusal.code);
  setCommonHeaders(services, ctx);
  ctx.set(problemHeaders(refusal));
  ctx.body = JSON.stringify(problem);
}

type RespondDeps = HttpDeps & { unread: ReturnType<typeof createUnread> };

function finish(services: RespondDeps, ctx: Context): Promise<void> | void {
  if (ctx.status === 304) countUnchanged(services, ctx);
  setCommonHeaders(services, ctx);
  setCacheHeaders(ctx);
  const { body, res } = ctx;
  const { slices, written } = ctx.state;
  if (body instanceof Readable) return pour(services, ctx, body);
  if (written !== undefined) return sendWritten(services, ctx, written);
  if (slices === undefined && (body === undefined || body === null)) return undefined;
  const accepted = ctx.headers["accept-encoding"];
  const isEncoded = res.hasHeader("Content-Encoding");
  const plain = slices ?? plainOf(body as object | string);
  const size = typeof plain === "string" ? Buffer.byteLength(plain) : sizeOf(plain);
  // Short answers are not worth packing, unless the caller refuses plain ones.
  const isShort = size < compressMin && !refusesIdentity(accepted);
  const encoding = isEncoded || isShort ? "identity" : pickEncoding(accepted);
  if (encoding !== "identity") {
    ctx.set("Content-Encoding", encoding);
    const whole = typeof plain === "string" ? Buffer.from(plain) : Buffer.concat(plain);
    if (slices !== undefined) slices.forEach(giveBack);
    return compress(whole, encoding).then((packed) => {
      services.unread.hold(res, [packed.buffer], packed.length);
      ctx.body = packed;
    });
  }
  if (slices !== undefined) return sendSlices(services, ctx, slices, size);
  services.unread.hold(
    res,
    typeof plain === "string" ? [{ byteLength: size }] : [plain[0]!.buffer],
    size,
  );
  if (typeof plain === "string") ctx.body = plain;
  return undefined;
}

const plainOf = (body: object | string): string | readonly Buffer[] =>
  Buffer.isBuffer(body) ? [body] : typeof body === "string" ? body : JSON.stringify(body);

const sizeOf = (slices: readonly Buffer[]): number =>
  slices.reduce((sum, { length }) => sum + length, 0);

/** A body, whole or in pieces. Pieces may be lent: they are given back once they are sent. */
type Body = Buffer | readonly Buffer[] | Written;

/** Sets a body that is JSON already; `encoding` when it is encoded. */
export function sendJson(ctx: Context, body: Body, encoding?: Coding): void {
  ctx.status = 200;
  ctx.res.setHeader("Content-Type", jsonType);
  if (encoding !== undefined) ctx.set("Content-Encoding", encoding);
  if (Buffer.isBuffer(body)) ctx.body = body;
  else if ("pieces" in body) ctx.state.written = body;
  else ctx.state.slices = body;
}

/** A body in the encodings that it has or can be made in. */
export interface Representation {
  /** The codings that cost least, for every caller who takes one of them; between equals the first one wins. */
  offers: readonly Coding[];
  /** The body in a coding. Null: `respond` makes it. */
  coded(coding: Coding): Body | Promise<Body> | null;
  plain(): Body | Promise<Body>;
}

/** Sets a body that is JSON already, in the encoding that the caller wants most (RFC 9110 12.5.3). */
export async function sendRepresentation(
  ctx: Context,
  { offers, coded, plain }: Representation,
): Promise<void> {
  const accepted = ctx.headers["accept-encoding"];
  const offered = pickEncoding(accepted, offers);
  const encoding = offered === "identity" ? pickEncoding(accepted) : offered;
  const body = encoding === "identity" ? null : coded(encoding);
  if (encoding === "identity" || body === null) sendJson(ctx, await plain());
  else sendJson(ctx, await body, encoding);
}

/** Sets the headers of every answer, refusals included. */
export function setCommonHeaders(
  { health }: Pick<HttpDeps, "health">,
  { res, state }: Context,
): void {
  const { requestId, limits, forPage, ignored = "" } = state;
  res.setHeader("X-Request-Id", requestId);
  res.setHeader("X-Content-Type-Options", "nosniff");
  if (limits !== undefined) {
    const headers = limitHeaders(limits);
    for (const name in headers) res.setHeader(name, headers[name]!);
  }
  if (forPage !== undefined)
    for (const [name, value] of Object.entries(forPage)) res.setHeader(name, value);
  if (ignored !== "") res.setHeader("X-Ignored-Parameters", ignored);
  if (health.stopping) res.setHeader("Connection", "close");
}

function setCacheHeaders(ctx: Context): void {
  const { method, res, state } = ctx;
  if (!res.hasHeader("Cache-Control")) res.setHeader("Cache-Control", "private, no-cache");
  if (method !== "GET" && method !== "HEAD") return;
  const own = res.getHeader("Vary") as string | undefined;
  // The header is set without an `Origin` too: a cache must not give one page's answer to another page.
  const general = state.key?.kind === "publishable" ? "Accept-Encoding, Origin" : "Accept-Encoding";
  res.setHeader("Vary", own === undefined ? general : `${general}, ${own}`);
}

/** Bytes; a shorter slice costs more to write than to copy. */
const slicedMin = 16_384;

/** Long slices go out as they are, short neighbours as one. */
function sendSlices(
  { unread }: RespondDeps,
  ctx: Context,
  slices: readonly Buffer[],
  size: number,
): void {
  if (size < 4 * slicedMin) {
    const body = Buffer.concat(slices);
    unread.hold(ctx.res, [body.buffer], size);
    ctx.body = body;
    return;
  }
  unread.hold(
    ctx.res,
    slices.map(({ buffer }) => buffer),
    size,
  );
  ctx.respond = false;
  ctx.length = size;
  const { res } = ctx;
  // The operating system has the bytes then. Slices that a caller never takes are left to the garbage collector.
  res.once("finish", () => slices.forEach(giveBack));
  if (ctx.method === "HEAD") return void res.end();
  res.cork();
  let short: Buffer[] = [];
  const flush = (): void => {
    if (short.length > 0) res.write(short.length === 1 ? short[0] : Buffer.concat(short));
    short = [];
  };
  for (const slice of slices) {
    if (slice.length < slicedMin) short.push(slice);
    else {
      flush();
      res.write(slice);
    }
  }
  flush();
  res.end();
}

/** What the writer of a list keeps at a time, bytes, by estimate: 10,000 stations. */
const copyBytes = 4_000_000;

/** Packed, it is whole before it is sent, so that a slow caller keeps no more than that. */
async function sendWritten(services: RespondDeps, ctx: Context, body: Written): Promise<void> {
  const { res } = ctx;
  const { pieces, length } = body;
  const encoding = pickEncoding(ctx.headers["accept-encoding"]);
  if (encoding !== "identity") {
    ctx.set("Content-Encoding", encoding);
    const packed = await compressPieces(pieces, encoding);
    return sendSlices(services, ctx, packed, sizeOf(packed));
  }
  services.unread.hold(res, [{ byteLength: copyBytes }], copyBytes);
  ctx.respond = false;
  if (length !== undefined) ctx.length = length;
  if (ctx.method === "HEAD") return void res.end();
  const sending = (async () => {
    for await (const piece of pieces) await taken(res, piece);
    res.end();
  })();
  sending.catch((error: Error) => breakOff(services, ctx, error));
}

/** The socket is closed after an error, so that a caller never takes a torn answer for a whole one. */
function breakOff({ log }: HttpDeps, { res, state }: Context, error: NodeJS.ErrnoException): void {
  if (!hungUp.has(error.code ?? ""))
    log.warn({ request_id: state.requestId, ...describe(error) }, "answer broken off");
  res.destroy();
}

const hungUp = new Set(
  "ERR_STREAM_PREMATURE_CLOSE ERR_STREAM_DESTROYED ECONNRESET EPIPE".split(" "),
);

/** Sends events. A coder would hold them back. */
function pour(services: HttpDeps, ctx: Context, body: Readable): void {
  const { res } = ctx;
  ctx.respond = false;
  ctx.flushHeaders();
  if (ctx.method === "HEAD") {
    body.destroy();
    res.end();
    return;
  }
  // It may stay open for days: its line is written now.
  ctx.state.opened?.();
  pipeline(body, res, (error) => error && breakOff(services, ctx, error));
}

/** A server of files: calls `next` when it has no such file, and has sent nothing then. */
type FileServer = (req: IncomingMessage, res: ServerResponse, next: () => void) => void;

/** Has `serve` answer in place of Koa. False when it has no such file. */
export async function serveFile(
  services: Pick<HttpDeps, "health">,
  ctx: Context,
  serve: FileServer,
): Promise<boolean> {
  const { req, res } = ctx;
  setCommonHeaders(services, ctx);
  // Koa has set 404 beforehand. `ctx.status` would set a reason that 206 and 416 keep.
  res.statusCode = 200;
  ctx.respond = false;
  const found = await new Promise<boolean>((done) => {
    res.once("close", () => done(true));
    serve(req, res, () => done(false));
  });
  if (!found) {
    res.statusCode = 404;
    delete ctx.respond;
  }
  return found;
}
