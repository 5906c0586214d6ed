import sirv from "sirv";
import type { Page } from "#api/http/app.ts";
import { readBody, bodyLimitDefault } from "#api/http/body.ts";
import type { Context } from "#api/http/context.ts";
import type { OperatorGate } from "#api/console/operator-gate.ts";
import type { ConsoleViewer } from "#api/console/call.ts";
import {
  boardFiles,
  createQueueBoard,
  namesPath,
  type QueueBoard,
} from "#api/console/queue-board.ts";
import { buttonNamesScript } from "#api/console/queue-board-names.ts";
import { serveFile } from "#api/pages/assets.ts";
import { refuseForeign } from "#api/pages/same-site.ts";
import type { Reply } from "#api/http/route.ts";
import type { Services } from "#api/http/services.ts";
import { inTransaction } from "#src/infrastructure/db.ts";
import { isRefusal, refuse, type Refusal } from "#src/contract/refusals.ts";
import { logAction } from "#src/operators/operator-log.ts";

const base = "/console/queues";
// bull-board styles inline; its scripts come from here alone, like all others.
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** `/console/queues/`: bull-board, every part of it for the role operator alone, its changes in the operator's log. */
export function queuesPage(services: Services, gate: OperatorGate): Page {
  const files = sirv(boardFiles, { etag: true, dev: false });
  let making: Promise<QueueBoard | null> | null = null;
  /** One board, however many ask for the first at once. */
  const board = (): Promise<QueueBoard | null> => {
    making ??= createQueueBoard(services.producer, baseOf(services)).catch(() => {
      // Redis is away; the next one who asks tries again.
      making = null;
      return null;
    });
    return making;
  };
  return async (ctx, next) => {
    const { path } = ctx.state;
    if (path === base) return { status: 308, headers: { Location: `${base}/` }, body: "" };
    if (!path.startsWith(`${base}/`)) return next();
    const viewer = await gate.admit(ctx, "operator");
    if (isRefusal(viewer)) return viewer;
    const below = path.slice(base.length);
    if (below.startsWith("/static/")) {
      const found = await serveFile(ctx, files, below.slice("/static".length));
      if (!found) return refuse("not-found", "No such file of the queues.");
      ctx.respond = false;
      return undefined;
    }
    if (below === namesPath) return namesReply;
    const queues = await board();
    if (queues === null) return away;
    if (below.startsWith("/api/")) return answer(services, queues, viewer, ctx, below);
    const page = ["GET", "HEAD"].includes(ctx.method) ? queues.page(below) : null;
    return page === null ? refuse("not-found", "No such page of the queues.") : pageReply(page);
  };
}

const baseOf = ({ config }: Services): string =>
  `${new URL(config.baseUrl).pathname.replace(/\/$/, "")}${base}`;

const away = refuse("upstream-unavailable", "Redis does not answer: the queues cannot be read.", {
  retryAfterS: 5,
});

const noObject = refuse("validation-failed", [
  { loc: ["body"], msg: "Input should be a valid dictionary", type: "dict_type" },
]);

const pageReply = (body: string): Reply => ({
  headers: {
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "no-store",
    "Content-Security-Policy": policy,
    "Referrer-Policy": "no-referrer",
  },
  body,
});

const namesReply: Reply = {
  headers: { "Content-Type": "text/javascript; charset=utf-8", "Cache-Control": "no-cache" },
  body: buttonNamesScript,
};

async function answer(
  { db, config }: Services,
  board: QueueBoard,
  { account }: ConsoleViewer,
  ctx: Context,
  path: string,
): Promise<Reply | Refusal> {
  const changes = ctx.method !== "GET" && ctx.method !== "HEAD";
  // Its page sends changes without a body as no type at all, so only where they come from is looked at.
  const foreign = changes ? refuseForeign(ctx, config) : null;
  if (foreign?.problem === "cross-site-request") return foreign;
  const body = changes ? await bodyOf(ctx) : {};
  if (body === null) return noObject;
  const query = Object.fromEntries(new URLSearchParams(ctx.state.search));
  const method = ctx.method === "HEAD" ? "GET" : ctx.method;
  const given = await board.call({ method, path, query, body });
  if (given === null) return refuse("not-found", "No such call of the queues.");
  if (changes && given.status < 400) {
    const subject = path.slice("/api/".length);
    await inTransaction(db, (tx) =>
      logAction(tx, { actor: account.name, action: "queue.board", subject, details: { method } }),
    );
  }
  return { status: given.status, headers: { "Cache-Control": "no-store" }, body: given.body };
}

async function bodyOf({ req }: Context): Promise<Record<string, unknown> | null> {
  const { "content-type": type, "content-length": length = "0" } = req.headers;
  if (type === undefined || length === "0") return {};
  const read = await readBody(req, bodyLimitDefault);
  const value = read.refused === undefined ? read.value : null;
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? (value as Record<string, unknown>) : null;
}
