import { type Static, type TInteger, type TObject, type TSchema, Type } from "typebox";
import { orThrow } from "#api/http/errors.ts";
import type { Method, Context, RouteContext } from "#api/http/route.ts";
import type { ConsoleDeps } from "#api/console/deps.ts";
import { pageCall, type PageCall } from "#api/pages/page-calls.ts";
import { sessionCookie, type SessionCookie } from "#api/pages/session-cookie.ts";
import type { ConsoleAccount } from "#src/contract/console.ts";
import { isRefusal, refuse, type Refusal } from "#src/contract/refusals.ts";
import { type Act, type By, nothing } from "#src/operators/act.ts";
import { longId } from "#src/operators/inputs.ts";
import { operatorById, type OperatorRole } from "#src/operators/operators.ts";
import { findSession } from "#src/operators/sessions.ts";

/** The operator who calls the console. */
export interface ConsoleViewer {
  account: ConsoleAccount;
  sessionId: number;
}

/** A call of the console. It says what role it takes; `admitOperators` holds every call to it. */
export type ConsoleCall = PageCall<ConsoleViewer> & { role: OperatorRole };

/** A call with the role that it takes; its handler has the types of its schemas. */
export const consoleCall = <Query extends TSchema, Body extends TSchema>(
  method: Method,
  path: string,
  options: { role: OperatorRole; query?: Query; body?: Body },
  handle: PageCall<ConsoleViewer, Query, Body>["handle"],
): ConsoleCall => pageCall<ConsoleViewer>()(method, path, options, handle) as ConsoleCall;

/** The name under which the operator's log keeps what this caller does. */
export const actorOf = ({
  state,
}: RouteContext<unknown, unknown, { viewer: ConsoleViewer }>): string => state.viewer.account.name;

/** The operator and the services of an act; `?after=ENTRY` of an undo (`undoOf` in api/console/decisions.ts). */
export const byOf = (
  { db, config, clock, producer }: ConsoleDeps,
  ctx: Parameters<typeof actorOf>[0],
): By => ({
  ...{ db, config, now: clock(), actor: actorOf(ctx) },
  ...(ctx.query["after"] === undefined ? {} : { after: idOf(longId, String(ctx.query["after"])) }),
  wake: (stationIds) => producer.wakeMarks(stationIds),
});

/** A call that does an act; it answers with `answer` of the result, or without `answer` with 204. */
export const actCall = <Input extends TObject, Id extends TSchema, T extends object>(
  services: ConsoleDeps,
  method: Method,
  path: string,
  act: Act<Input, Id, T>,
  { answer, status = 200, body = act.input }: ActAnswer<T> & { body?: TObject } = {},
): ConsoleCall => {
  const bodies = act.input === (nothing as TObject) ? {} : { body };
  return consoleCall(method, path, { role: "operator", ...bodies }, async (ctx) => {
    const id = idOf(act.id, ctx.params["id"]);
    const done = orThrow(await act(byOf(services, ctx), ctx.state.body as Static<Input>, id));
    ctx.status = answer === undefined ? 204 : status;
    if (answer !== undefined) ctx.body = await answer(done);
  });
};

/**
 * A call that does an act to many subjects, a transaction each, in one order: none waits for locks that another call
 * holds in another order. `missed` in its answer: there is none of this id, or another operator was faster.
 */
export const actsCall = (
  services: ConsoleDeps,
  path: string,
  act: Act<typeof nothing, TInteger, object>,
  { id, done }: { id: TInteger; done: string },
): ConsoleCall => {
  const ids = Type.Array(id, { minItems: 1, maxItems: together });
  const body = Type.Object({ ids });
  return consoleCall("POST", path, { role: "operator", body }, async (ctx) => {
    const answer: Record<string, number[]> = { [done]: [], missed: [] };
    for (const one of [...new Set(ctx.state.body.ids)].sort((a, b) => a - b)) {
      const made = await act(byOf(services, ctx), {}, one);
      answer[isRefusal(made) ? "missed" : done]!.push(one);
    }
    ctx.body = answer;
  });
};
const together = 500;

interface ActAnswer<T> {
  answer?: (done: T) => object | Promise<object>;
  status?: number;
}

/** The id in a path; 0 or "", which nothing has, when it cannot be one. */
export function idOf<Id extends TSchema>(id: Id, text = ""): Static<Id> {
  const { maximum, pattern = "" } = id as TSchema & { maximum?: number; pattern?: string };
  if (maximum === undefined) return (new RegExp(pattern).test(text) ? text : "") as Static<Id>;
  const fits = /^[1-9]\d{0,14}$/.test(text) && Number(text) <= maximum;
  return (fits ? Number(text) : 0) as Static<Id>;
}

export interface OperatorGate {
  cookie: SessionCookie;
  /** The cookie with a browser's proof that it has signed in before. */
  browserCookie: SessionCookie;
  /** The caller, or why the call is refused. Asked at every request: a change of an account is in force at once. */
  admit(ctx: Context, role: OperatorRole): Promise<ConsoleViewer | Refusal>;
}

/** The one place that decides who may do what in the console. */
export function operatorGate({ db, config, clock }: ConsoleDeps): OperatorGate {
  const cookie = sessionCookie("console", config);
  const { consoleIdleMs: idleMs } = config;
  return {
    cookie,
    browserCookie: sessionCookie("console", config, "browser"),
    admit: async (ctx, role) => {
      const token = cookie.read(ctx);
      // The page marks calls that a timer makes: an open page alone is not somebody at work.
      const isSeen = ctx.get("X-Unattended") === "";
      const session =
        token === null
          ? null
          : await findSession(db, "operator", token, clock(), { idleMs, isSeen });
      const account = session === null ? null : await operatorById(db, session.subjectId);
      if (session === null || account === null || account.disabled_at !== null)
        return refuse("session-over", "Sign in to the console.");
      if (role === "operator" && account.role !== "operator")
        return refuse(
          "operator-role-required",
          "This account may look at everything and change nothing.",
        );
      const { id, name } = account;
      return { account: { id, name, role: account.role }, sessionId: session.id };
    },
  };
}
