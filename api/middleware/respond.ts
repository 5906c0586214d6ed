import { Readable, pipeline } from "node:stream";
import type { Context, Step } from "#api/context.ts";
import { coderOf, compress, type Encoding, pickEncoding } from "#api/encoding.ts";
import { renderProblem } from "#api/problem.ts";
import type { Reply } from "#api/route.ts";
import type { Services } from "#api/services.ts";
import { isUnavailable } from "#src/db.ts";
import { isProblem, refuse, type Problem } from "#src/domain/problems.ts";
import { withoutKeys } from "#src/key-text.ts";

const compressMin = 1024;
const unavailableRetryS = 5;

/**
 * Sends what the steps further in gave back: a reply, a refusal, or what a thrown error means. Headers that they
 * have set on `ctx`, the limits' above all, stay on every answer.
 */
export function respond({ config, log, health }: Services): Step {
  const sendProblem = (ctx: Context, problem: Problem): void => {
    const { status, headers, body } = renderProblem(
      problem,
      config.problemBase,
      ctx.state.requestId,
    );
    write(ctx, status, headers, Buffer.from(body));
  };

  const explain = (ctx: Context, error: unknown): Problem => {
    const away = isUnavailable(error);
    const line = {
      request_id: ctx.state.requestId,
      path: withoutKeys(ctx.state.path),
      ...describe(error),
    };
    log.error(line, away ? "upstream unavailable" : "internal error");
    if (!away) {
      return refuse(
        "internal-error",
        "Something went wrong here. Quote request_id to the operator.",
      );
    }
    return refuse(
      "upstream-unavailable",
      "A part of the service is away. Nothing was lost: retry.",
      {
        retryAfterS: unavailableRetryS,
      },
    );
  };

  return async (ctx, next) => {
    try {
      const answer = await next();
      if (health.stopping) ctx.set("Connection", "close");
      if (answer === undefined) {
        if (ctx.respond !== false && ctx.body == null && ctx.status === 404)
          sendProblem(ctx, noPage);
      } else if (isProblem(answer)) sendProblem(ctx, answer);
      else {
        await sendReply(ctx, answer, (error) => {
          log.warn({ request_id: ctx.state.requestId, ...describe(error) }, "answer broken off");
        });
      }
    } catch (error) {
      const problem = explain(ctx, error);
      if (ctx.res.headersSent) ctx.res.destroy();
      else sendProblem(ctx, problem);
    }
    return undefined;
  };
}

const noPage = refuse("not-found", "No such page.");

/** What of an error may be logged: drivers hang settings and values on theirs. */
function describe(error: unknown): object {
  if (!(error instanceof Error)) return { error: typeof error };
  const { name, message, stack } = error;
  return { error: { name, message, stack, code: (error as { code?: unknown }).code } };
}

async function sendReply(
  ctx: Context,
  reply: Reply,
  onBroken: (error: Error) => void,
): Promise<void> {
  const headers: Record<string, string> = {
    "Cache-Control": "private, no-cache",
    ...reply.headers,
  };
  const { body = null, status = body === null ? 204 : 200 } = reply;
  if (ctx.method === "GET" || ctx.method === "HEAD") ctx.vary("Accept-Encoding");
  if (headers["Vary"] !== undefined) {
    ctx.vary(headers["Vary"]);
    delete headers["Vary"];
  }
  if (body === null) return write(ctx, status, headers, null);
  headers["Content-Type"] ??= "application/json; charset=utf-8";
  const encoding =
    headers["Content-Encoding"] === undefined
      ? pickEncoding(ctx.get("Accept-Encoding"))
      : "identity";
  if (body instanceof Readable) return pour(ctx, status, headers, body, encoding, onBroken);
  const plain = Buffer.isBuffer(body)
    ? body
    : Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  if (plain.length < compressMin || encoding === "identity")
    return write(ctx, status, headers, plain);
  headers["Content-Encoding"] = encoding;
  return write(ctx, status, headers, await compress(plain, encoding));
}

/** Koa would drop or add headers of its own, so answers are written without it. */
function write(
  ctx: Context,
  status: number,
  headers: Record<string, string>,
  body: Buffer | null,
): void {
  ctx.respond = false;
  if (body !== null) headers["Content-Length"] = String(body.length);
  ctx.res.writeHead(status, headers);
  ctx.res.end(ctx.method === "HEAD" || body === null ? undefined : body);
}

function pour(
  ctx: Context,
  status: number,
  headers: Record<string, string>,
  body: Readable,
  encoding: Encoding,
  onBroken: (error: Error) => void,
): void {
  ctx.respond = false;
  if (encoding !== "identity") headers["Content-Encoding"] = encoding;
  ctx.res.writeHead(status, headers);
  if (ctx.method === "HEAD") {
    body.destroy();
    ctx.res.end();
    return;
  }
  // On an error the socket is closed, so that a caller never takes a torn answer for a whole one.
  const done = (error: NodeJS.ErrnoException | null): void => {
    if (error && error.code !== "ERR_STREAM_PREMATURE_CLOSE") onBroken(error);
  };
  if (encoding === "identity") pipeline(body, ctx.res, done);
  else pipeline(body, coderOf(encoding), ctx.res, done);
}
