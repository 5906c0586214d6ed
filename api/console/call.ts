import type { Static, TSchema } from "typebox";
import { orThrow } from "#api/http/refused.ts";
import type { Context } from "#api/http/state.ts";
import type { Refusal } from "#src/contract/refusals.ts";
import { pageCall, type PageCall } from "#api/pages/page-calls.ts";
import { inTransaction, type Db, type Tx } from "#src/infrastructure/db.ts";
import type { ConsoleAccount } from "#src/contract/console.ts";
import { logAction, type OperatorAction } from "#src/operators/operator-log.ts";
import type { OperatorRole } from "#src/operators/operators.ts";

/** Who calls the console. */
export interface ConsoleViewer {
  account: ConsoleAccount;
  sessionId: number;
}

/** A call of the console. It says what role it takes; `admitOperators` holds every call to it. */
export type ConsoleCall = PageCall<ConsoleViewer> & { role: OperatorRole };

/** An answer of the console. */
export interface Reply {
  status?: number;
  headers?: Record<string, string>;
  body?: object | string | null;
}

interface CallRequest<Viewer, Query, Body> {
  viewer: Viewer;
  params: Record<string, string>;
  query: Query;
  body: Body;
  ctx: Context;
}

type Handle<Viewer, Query, Body> = (
  request: CallRequest<Viewer, Query, Body>,
) => Promise<Reply | Refusal> | Reply | Refusal;

type CallDefinition<Viewer, Query extends TSchema, Body extends TSchema> = Omit<
  PageCall<Viewer, Query, Body>,
  "handle"
> & { handle: Handle<Viewer, Static<Query>, Static<Body>> };

export const replyCall =
  <Viewer>() =>
  <Query extends TSchema, Body extends TSchema>(
    definition: CallDefinition<Viewer, Query, Body>,
  ): PageCall<Viewer> =>
    pageCall<Viewer>()({
      ...definition,
      async handle(ctx) {
        const { viewer, query, body } = ctx.state;
        const reply = orThrow(
          await definition.handle({ viewer, params: ctx.params, query, body, ctx: ctx as never }),
        );
        ctx.set(reply.headers ?? {});
        ctx.status = reply.status ?? 200;
        ctx.body = reply.body;
      },
    } as PageCall<Viewer, Query, Body>);

/** Gives the literal of a call its types. */
export const consoleCall = <Query extends TSchema, Body extends TSchema>(
  definition: CallDefinition<ConsoleViewer, Query, Body> & { role: OperatorRole },
): ConsoleCall => replyCall<ConsoleViewer>()(definition) as ConsoleCall;

/**
 * Changes something and writes it to the operator's log, in one transaction. `work` gives what to answer and what to
 * write down; null: there was nothing to do, and nothing is written.
 */
export const change = <T>(
  db: Db,
  viewer: ConsoleViewer,
  work: (tx: Tx) => Promise<{ value: T; did: Omit<OperatorAction, "actor"> } | null>,
): Promise<T | null> =>
  inTransaction(db, async (tx) => {
    const done = await work(tx);
    if (done === null) return null;
    await logAction(tx, { actor: viewer.account.name, ...done.did });
    return done.value;
  });
