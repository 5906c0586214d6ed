import { type ConsoleCall, consoleCall } from "#api/console/operator-gate.ts";
import { refused } from "#api/http/errors.ts";
import type { ConsoleDeps } from "#api/console/deps.ts";
import type { ConsoleSession } from "#src/contract/console.ts";
import { isRefusal } from "#src/contract/refusals.ts";
import { endConsoleSession } from "#src/operators/accounts.ts";
import { listOperators } from "#src/operators/operators.ts";
import { inMs, presented } from "#src/operators/presented.ts";
import { listSessions } from "#src/operators/sessions.ts";

/** The caller's session; open sessions: one's own, for operators everybody's. */
export const sessionCalls = ({ db, config, clock }: ConsoleDeps): ConsoleCall[] => [
  consoleCall("GET", "/session", { role: "viewer" }, (ctx) => {
    ctx.body = { account: ctx.state.viewer.account };
  }),
  consoleCall("GET", "/sessions", { role: "viewer" }, async (ctx) => {
    const { account, sessionId } = ctx.state.viewer;
    const own = account.role === "operator" ? undefined : account.id;
    const idleSince = clock() - config.consoleIdleMs;
    const sessions = (await listSessions(db, "operator", own)).filter(
      ({ last_seen_at }) => last_seen_at.getTime() > idleSince,
    );
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
    if (isRefusal(ended)) throw refused("not-found", "There is no such session, or it is over.");
    ctx.status = 204;
  }),
];
