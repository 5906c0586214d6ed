import { rows, type Tx } from "#src/db.ts";

/** One thing an operator did, and to what: `key.revoke`, `key 7`. Secrets never go into `details`. */
export interface OperatorAction {
  actor: string;
  action: string;
  subject: string;
  details?: Readonly<Record<string, unknown>>;
}

/** Writes an operator's action down, in the transaction that does it. */
export async function logAction(
  tx: Tx,
  { actor, action, subject, details = {} }: OperatorAction,
): Promise<void> {
  const sql =
    "insert into operator_log (actor, action, subject, details) values (?, ?, ?, ?::jsonb)";
  await rows(tx, sql, [actor, action, subject, JSON.stringify(details)]);
}
