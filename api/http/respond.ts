import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline, Readable } from "node:stream";
import { coderOf, compress, pickEncoding, refusesIdentity } from "#api/http/encoding.ts";
import { countOutcome, limitHeaders } from "#api/http/limits.ts";
import { describe } from "#api/http/refused.ts";
import type { Context, Middleware } from "#api/http/state.ts";
import type { Services } from "#api/http/services.ts";

const compressMin = 1024;

/**
 * Finishes the answer that a handler has set: the headers that every answer carries, and the encoding. Koa sends what
 * lies in `ctx.body`; slices and streams are sent here.
 */
export function respond(services: Services): Middleware {
  const { log } = services;

  const onBroken = ({ state }: Context, error: Error): void =>
    log.warn({ request_id: state.requestId, ...describe(error) }, "answer broken off");

  return async (ctx, next) => {
    await next();
    // A server of files has answered.
    if (ctx.respond === false) return;
    if (ctx.status === 304) countOutcome(services, ctx, "not_modified");
    setCommonHeaders(services, ctx);
    setCacheHeaders(ctx);
    const { body, res, state } = ctx;
    const { slices } = state;
    if (slices === undefined && (body === undefined || body === null)) return;
    const accepted = ctx.headers["accept-encoding"];
    const isEncoded = res.hasHeader("Content-Encoding");
    if (body instanceof Readable) {
      const encoding = isEncoded ? "identity" : pickEncoding(accepted);
      return pour(ctx, body, encoding, onBroken);
    }
    const plain = slices ?? plainOf(body as object | string);
    const size = typeof plain === "string" ? Buffer.byteLength(plain) : sizeOf(plain);
    // Not worth packing, unless the caller takes nothing else.
    const isShort = size < compressMin && !refusesIdentity(accepted);
    const encoding = isEncoded || isShort ? "identity" : pickEncoding(accepted);
    if (encoding !== "identity") {
      ctx.set("Content-Encoding", encoding);
      ctx.body = await compress(
        typeof plain === "string" ? Buffer.from(plain) : Buffer.concat(plain),
        encoding,
      );
    } else if (slices === undefined) ctx.body = Array.isArray(plain) ? body : plain;
    else sendSlices(ctx, slices, size);
  };
}

const plainOf = (body: object | string): string | readonly Buffer[] =>
  Buffer.isBuffer(body) ? [body] : typeof body === "string" ? body : JSON.stringify(body);

const sizeOf = (slices: readonly Buffer[]): number =>
  slices.reduce((sum, { length }) => sum + length, 0);

/** Sets a body that is JSON already. */
export function sendJson(ctx: Context, json: Buffer): void {
  ctx.type = "json";
  ctx.body = json;
}

/** Sets a long body that is JSON already, in pieces; `encoding` when they are encoded. */
export function sendJsonSlices(ctx: Context, slices: readonly Buffer[], encoding?: "gzip"): void {
  ctx.status = 200;
  ctx.type = "json";
  if (encoding !== undefined) ctx.set("Content-Encoding", encoding);
  ctx.state.slices = slices;
}

/** What every answer carries, refusals included. */
export function setCommonHeaders({ health }: Pick<Services, "health">, ctx: Context): void {
  const { requestId, limits } = ctx.state;
  ctx.set("X-Request-Id", requestId);
  ctx.set("X-Content-Type-Options", "nosniff");
  if (limits !== undefined) ctx.set(limitHeaders(limits));
  if (health.stopping) ctx.set("Connection", "close");
}

function setCacheHeaders(ctx: Context): void {
  if (!ctx.res.hasHeader("Cache-Control")) ctx.set("Cache-Control", "private, no-cache");
  if (ctx.method !== "GET" && ctx.method !== "HEAD") return;
  const own = ctx.res.getHeader("Vary") as string | undefined;
  ctx.set("Vary", own === undefined ? "Accept-Encoding" : `Accept-Encoding, ${own}`);
}

/** Below this a slice costs more to write than to copy. */
const slicedMin = 16_384;

/** Long slices go out as they are, short neighbours as one. */
function sendSlices(ctx: Context, slices: readonly Buffer[], size: number): void {
  if (size < 4 * slicedMin) {
    ctx.body = Buffer.concat(slices);
    return;
  }
  ctx.respond = false;
  ctx.length = size;
  const { res } = ctx;
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

function pour(
  ctx: Context,
  body: Readable,
  encoding: "br" | "gzip" | "identity",
  onBroken: (ctx: Context, error: Error) => void,
): void {
  const { res } = ctx;
  ctx.respond = false;
  if (encoding !== "identity") ctx.set("Content-Encoding", encoding);
  ctx.flushHeaders();
  if (ctx.method === "HEAD") {
    body.destroy();
    res.end();
    return;
  }
  // On an error the socket is closed, so that a caller never takes a torn answer for a whole one.
  const done = (error: NodeJS.ErrnoException | null): void => {
    if (error && error.code !== "ERR_STREAM_PREMATURE_CLOSE") onBroken(ctx, error);
  };
  if (encoding === "identity") pipeline(body, res, done);
  else pipeline(body, coderOf(encoding), res, done);
}

/** A server of files: calls `next` when it has no such file, and has sent nothing then. */
type FileServer = (req: IncomingMessage, res: ServerResponse, next: () => void) => void;

/** Has `serve` answer in place of Koa. False when it has no such file. */
export async function serveFile(
  services: Pick<Services, "health">,
  ctx: Context,
  serve: FileServer,
): Promise<boolean> {
  const { req, res } = ctx;
  setCommonHeaders(services, ctx);
  // Koa has set 404 beforehand. Not by `ctx.status`, which sets a reason that 206 and 416 would keep.
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
