import type { TSchema } from "typebox";
import { pageCall, type PageCall } from "#api/pages/page-calls.ts";
import type { ConsoleAccount } from "#src/contract/console.ts";
import type { OperatorRole } from "#src/operators/operators.ts";
import type { RouteContext } from "#api/http/state.ts";

/** Who calls the console. */
export interface ConsoleViewer {
  account: ConsoleAccount;
  sessionId: number;
}

/** A call of the console. It says what role it takes; `admitOperators` holds every call to it. */
export type ConsoleCall = PageCall<ConsoleViewer> & { role: OperatorRole };

/** Gives the literal of a call its types. */
export const consoleCall = <Query extends TSchema, Body extends TSchema>(
  definition: PageCall<ConsoleViewer, Query, Body> & { role: OperatorRole },
): ConsoleCall => pageCall<ConsoleViewer>()(definition) as ConsoleCall;

/** The name under which the operator's log keeps what this caller does. */
export const actorOf = ({
  state,
}: RouteContext<unknown, unknown, { viewer: ConsoleViewer }>): string => state.viewer.account.name;
