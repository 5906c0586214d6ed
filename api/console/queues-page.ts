import sirv from "sirv";
import { orThrow, refused } from "#api/http/errors.ts";
import { serveFile } from "#api/http/respond.ts";
import type { Context, Middleware, PageRouter } from "#api/http/route.ts";
import { readBody } from "#api/http/register-routes.ts";
import { moved } from "#api/pages/built-page.ts";
import type { ConsoleViewer, OperatorGate } from "#api/console/operator-gate.ts";
import { boardFiles, createQueueBoard } from "#api/console/queue-board.ts";
import { refuseForeign } from "#api/pages/guards.ts";
import type { ConsoleDeps } from "#api/console/deps.ts";
import { inTransaction } from "#src/infrastructure/db.ts";
import { logAction } from "#src/operators/operator-log.ts";

const base = "/console/queues";

/** `/console/queues/`: bull-board, every part of it for the role operator alone, its changes in the operator's log. */
export function queuesPages(router: PageRouter, services: ConsoleDeps, gate: OperatorGate): void {
  const { config, db } = services;
  const files = sirv(boardFiles, { etag: true, dev: false });
  let making: Promise<Middleware> | null = null;
  /** One board, however many callers ask for the first at once. */
  const board = (): Promise<Middleware> => {
    making ??= createQueueBoard(services.producer, base, baseOf(services)).catch(() => {
      // Redis is away; the next caller tries again.
      making = null;
      throw away;
    });
    return making;
  };
  const enter = async (ctx: Context): Promise<ConsoleViewer> =>
    orThrow(await gate.admit(ctx, "operator"));
  router.all(base, (ctx) => moved(ctx, 308, `${base}/`));
  router.all(`${base}/static/*file`, async (ctx) => {
    await enter(ctx);
    ctx.req.url = ctx.url.slice(`${base}/static`.length);
    if (!(await serveFile(services, ctx, files)))
      throw refused("not-found", "No such file of the queues.");
  });
  router.all(`${base}/api/*call`, async (ctx) => {
    const { account } = await enter(ctx);
    const answer = await board();
    const isRead = ctx.method === "GET" || ctx.method === "HEAD";
    // The page sends changes without a body and without a type, so only the origin is checked.
    if (!isRead) refuseForeign(ctx, config);
    ctx.state.body = isRead ? {} : await bodyOf(ctx);
    await answer(ctx, () => {
      throw refused("not-found", "No such call of the queues.");
    });
    if (isRead || ctx.status >= 400) return;
    const subject = ctx.path.slice(`${base}/api/`.length);
    const details = { method: ctx.method };
    await inTransaction(db, (tx) =>
      logAction(tx, { actor: account.name, action: "queue.board", subject, details }),
    );
  });
  router.all(`${base}/{*page}`, async (ctx) => {
    await enter(ctx);
    const answer = await board();
    await answer(ctx, () => {
      throw refused("not-found", "No such page of the queues.");
    });
  });
}

const baseOf = ({ config }: ConsoleDeps): string =>
  `${new URL(config.baseUrl).pathname.replace(/\/$/, "")}${base}`;

const away = refused("upstream-unavailable", "Redis does not answer: the queues cannot be read.", {
  retryAfterS: 5,
});

const noObject = refused("validation-failed", [
  { loc: ["body"], msg: "Input should be a valid dictionary", type: "dict_type" },
]);

async function bodyOf({ req }: Context): Promise<Record<string, unknown>> {
  const { "content-type": type, "content-length": length = "0" } = req.headers;
  if (type === undefined || length === "0") return {};
  const value = await readBody(req).catch(() => null);
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw noObject;
  return value as Record<string, unknown>;
}
