import type { Context } from "#api/http/state.ts";
import type { ConsoleViewer } from "#api/console/call.ts";
import { sessionCookie, type SessionCookie } from "#api/pages/session-cookie.ts";
import type { Services } from "#api/http/services.ts";
import { refuse, type Refusal } from "#src/contract/refusals.ts";
import { operatorById, type OperatorRole } from "#src/operators/operators.ts";
import { findSession } from "#src/operators/sessions.ts";

export interface OperatorGate {
  cookie: SessionCookie;
  /** Who calls, or why the call is refused. Asked at every request, so that a change of an account is in force at once. */
  admit(ctx: Context, role: OperatorRole): Promise<ConsoleViewer | Refusal>;
}

/** The one place that decides who may do what in the console. */
export function operatorGate({ db, config, clock }: Services): OperatorGate {
  const cookie = sessionCookie("console", config);
  return {
    cookie,
    admit: async (ctx, role) => {
      const token = cookie.read(ctx);
      const session = token === null ? null : await findSession(db, "operator", token, clock());
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
