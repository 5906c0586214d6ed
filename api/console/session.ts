import { Type } from "typebox";
import { type ConsoleCall, consoleCall, type OperatorGate } from "#api/console/operator-gate.ts";
import { refused } from "#api/http/errors.ts";
import { pageCall, type PageCall } from "#api/pages/page-calls.ts";
import { signInLimit } from "#api/pages/guards.ts";
import type { Services } from "#api/http/services.ts";
import { inTransaction } from "#src/infrastructure/db.ts";
import type { ConsoleAccount, ConsoleSession } from "#src/contract/console.ts";
import { endConsoleSession } from "#src/operators/accounts.ts";
import { isNotDone } from "#src/operators/act.ts";
import { logAction } from "#src/operators/operator-log.ts";
import { listOperators, signInOperator } from "#src/operators/operators.ts";
import { inMs, presented } from "#src/operators/presented.ts";
import { endSession, findSession, listSessions, openSession } from "#src/operators/sessions.ts";

const text = (maxLength: number) => Type.String({ minLength: 1, maxLength });
const credentials = Type.Union([
  Type.Object({ name: text(80), password: text(200) }),
  Type.Object({ key: text(200) }),
]);

/** Signing in: by name and password, or by an operator key. Limited for each viewer network and each account. */
export function signInCall(services: Services, { cookie }: OperatorGate): PageCall<null> {
  const { db, config, clock } = services;
  const countOfNetwork = signInLimit(services);
  const countOfAccount = signInLimit(services);
  return pageCall<null>()("POST", "/session", { body: credentials }, async (ctx) => {
    const { ip, body } = ctx.state;
    countOfNetwork(ip);
    if (!("key" in body)) countOfAccount(body.name.trim().toLowerCase());
    const credential =
      "key" in body ? { key: body.key.trim() } : { ...body, name: body.name.trim() };
    const account = await signInOperator(db, credential);
    if (account === null)
      throw refused("sign-in-failed", "No account has this name with this password, or this key.");
    const { sessionLifeMs: lifeMs } = config;
    const session = await inTransaction(db, async (tx) => {
      const agent = ctx.get("User-Agent");
      const opened = await openSession(tx, {
        kind: "operator",
        subjectId: account.id,
        address: ip,
        agent,
        now: clock(),
        lifeMs,
      });
      await logAction(tx, {
        actor: account.name,
        action: "console.sign-in",
        subject: `account ${account.name}`,
        details: { address: ip },
      });
      return opened;
    });
    cookie.give(ctx, session.token, lifeMs);
    const { id, name, role } = account;
    ctx.status = 201;
    ctx.body = { account: { id, name, role } satisfies ConsoleAccount };
  });
}

/** Signing out. Open to everybody, so that a browser can always forget its cookie. */
export const signOutCall = ({ db, clock }: Services, { cookie }: OperatorGate): PageCall<null> =>
  pageCall<null>()("DELETE", "/session", {}, async (ctx) => {
    const token = cookie.read(ctx);
    const session = token === null ? null : await findSession(db, "operator", token, clock());
    if (session !== null) await endSession(db, session.id);
    cookie.take(ctx);
    ctx.status = 204;
  });

/** Who is signed in, and who is signed in elsewhere. */
export const sessionCalls = ({ db }: Services): ConsoleCall[] => [
  consoleCall("GET", "/session", { role: "viewer" }, (ctx) => {
    ctx.body = { account: ctx.state.viewer.account };
  }),
  consoleCall("GET", "/sessions", { role: "viewer" }, async (ctx) => {
    const { account, sessionId } = ctx.state.viewer;
    const own = account.role === "operator" ? undefined : account.id;
    const sessions = await listSessions(db, "operator", own);
    const accounts = new Map((await listOperators(db)).map((account) => [account.id, account]));
    const shown = sessions.map(({ subject_id, ...session }): ConsoleSession => {
      const { id, created, expires, last_seen, address, agent } = presented(session, inMs);
      const { name = "", role = "viewer" } = accounts.get(subject_id) ?? {};
      const times = { created, expires, last_seen };
      return { id, account: name, role, ...times, address, agent, current: id === sessionId };
    });
    ctx.body = { sessions: shown };
  }),
  // A viewer ends its own ones: that takes nothing from anybody else.
  consoleCall("DELETE", "/sessions/{id}", { role: "viewer" }, async (ctx) => {
    const { account } = ctx.state.viewer;
    const own = account.role === "operator" ? undefined : account.id;
    const ended = await endConsoleSession(db, account.name, ctx.params["id"]!, own);
    if (isNotDone(ended)) throw refused("not-found", "There is no such session, or it is over.");
    ctx.status = 204;
  }),
];
