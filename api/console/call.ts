import type { TSchema } from "typebox";
import { pageCall, type PageCall } from "#api/pages/json-page.ts";
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

/** Gives the literal of a call its types. */
export const consoleCall = <Query extends TSchema, Body extends TSchema>(
  definition: PageCall<ConsoleViewer, Query, Body> & { role: OperatorRole },
): ConsoleCall => pageCall<ConsoleViewer>()(definition) as ConsoleCall;

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
