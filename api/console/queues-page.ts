import sirv from "sirv";
import { orThrow, Refused, refused } from "#api/http/refused.ts";
import { serveFile } from "#api/http/respond.ts";
import type { Context, PageRouter } from "#api/http/state.ts";
import { readBody } from "#api/http/validate.ts";
import { moved } from "#api/pages/built-page.ts";
import type { OperatorGate } from "#api/console/operator-gate.ts";
import type { ConsoleViewer } from "#api/console/call.ts";
import {
  boardFiles,
  createQueueBoard,
  namesPath,
  type QueueBoard,
} from "#api/console/queue-board.ts";
import { buttonNamesScript } from "#api/console/queue-board-names.ts";
import { refuseForeign } from "#api/pages/guards.ts";
import type { Services } from "#api/http/services.ts";
import { inTransaction } from "#src/infrastructure/db.ts";
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
export function queuesPages(router: PageRouter, services: Services, gate: OperatorGate): void {
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
  const enter = async (ctx: Context): Promise<ConsoleViewer> =>
    orThrow(await gate.admit(ctx, "operator"));
  const queuesOf = async (): Promise<QueueBoard> => {
    const queues = await board();
    if (queues === null) throw away;
    return queues;
  };
  router.all(base, (ctx) => moved(ctx, 308, `${base}/`));
  router.all(`${base}/static/*file`, async (ctx) => {
    await enter(ctx);
    ctx.req.url = ctx.url.slice(`${base}/static`.length);
    if (!(await serveFile(services, ctx, files)))
      throw refused("not-found", "No such file of the queues.");
  });
  router.get(base + namesPath, async (ctx) => {
    await enter(ctx);
    ctx.set({ "Content-Type": "text/javascript; charset=utf-8", "Cache-Control": "no-cache" });
    ctx.body = buttonNamesScript;
  });
  router.all(`${base}/api/*call`, async (ctx) => {
    const viewer = await enter(ctx);
    await answerCall(services, await queuesOf(), viewer, ctx);
  });
  router.all(`${base}/{*page}`, async (ctx) => {
    await enter(ctx);
    const queues = await queuesOf();
    const isRead = ctx.method === "GET" || ctx.method === "HEAD";
    const page = isRead ? queues.page(ctx.path.slice(base.length)) : null;
    if (page === null) throw refused("not-found", "No such page of the queues.");
    ctx.set({
      "Content-Type": "text/html; charset=utf-8",
      "Cache-Control": "no-store",
      "Content-Security-Policy": policy,
      "Referrer-Policy": "no-referrer",
    });
    ctx.body = page;
  });
}

const baseOf = ({ config }: Services): string =>
  `${new URL(config.baseUrl).pathname.replace(/\/$/, "")}${base}`;

const away = refused("upstream-unavailable", "Redis does not answer: the queues cannot be read.", {
  retryAfterS: 5,
});

const noObject = refused("validation-failed", [
  { loc: ["body"], msg: "Input should be a valid dictionary", type: "dict_type" },
]);

async function answerCall(
  { db, config }: Services,
  board: QueueBoard,
  { account }: ConsoleViewer,
  ctx: Context,
): Promise<void> {
  const path = ctx.path.slice(base.length);
  const changes = ctx.method !== "GET" && ctx.method !== "HEAD";
  // Its page sends changes without a body as no type at all, so only where they come from is looked at.
  const foreign = changes ? refuseForeign(ctx, config) : null;
  if (foreign?.code === "cross-site-request") throw new Refused(foreign);
  const body = changes ? await bodyOf(ctx) : {};
  const query = Object.fromEntries(new URLSearchParams(ctx.querystring));
  const method = ctx.method === "HEAD" ? "GET" : ctx.method;
  const answer = await board.call({ method, path, query, body });
  if (answer === null) throw refused("not-found", "No such call of the queues.");
  if (changes && answer.status < 400) {
    const subject = path.slice("/api/".length);
    await inTransaction(db, (tx) =>
      logAction(tx, { actor: account.name, action: "queue.board", subject, details: { method } }),
    );
  }
  ctx.status = answer.status;
  ctx.set("Cache-Control", "no-store");
  ctx.body = answer.body;
}

async function bodyOf({ req }: Context): Promise<Record<string, unknown>> {
  const { "content-type": type, "content-length": length = "0" } = req.headers;
  if (type === undefined || length === "0") return {};
  const value = await readBody(req).catch(() => null);
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw noObject;
  return value as Record<string, unknown>;
}
