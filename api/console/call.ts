import type { TSchema } from "typebox";
import { pageCall, type PageCall } from "#api/pages/page-calls.ts";
import type { ConsoleAccount } from "#src/contract/console.ts";
import type { OperatorRole } from "#src/operators/operators.ts";
import type { Method } from "#api/http/route.ts";
import type { RouteContext } from "#api/http/state.ts";

/** Who calls the console. */
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
