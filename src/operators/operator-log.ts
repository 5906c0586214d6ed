import { rows, type Db, type Tx } from "#src/infrastructure/db.ts";

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

/** What was done, with its time. */
export interface LoggedAction extends Required<OperatorAction> {
  id: number;
  at: Date;
}

export interface ActionFilter {
  /** Times in ms, UTC; `until` is outside. */
  since?: number | undefined;
  until?: number | undefined;
  by?: string | undefined;
  /** An action (`key.revoke`) or its noun (`key`). */
  action?: string | undefined;
  /** `key 7`. */
  subject?: string | undefined;
}

/** Operators' actions, the newest first. */
export const listActions = (db: Db, filter: ActionFilter, limit: number): Promise<LoggedAction[]> =>
  rows<LoggedAction>(
    db,
    `select id, at, actor, action, subject, details from operator_log
     where at >= coalesce(to_timestamp(?::double precision / 1000), '-infinity')
       and at < coalesce(to_timestamp(?::double precision / 1000), 'infinity')
       and actor = coalesce(?, actor) and subject = coalesce(?, subject)
       and (?::text is null or action = ? or split_part(action, '.', 1) = ?)
     order by id desc limit ?`,
    [
      filter.since ?? null,
      filter.until ?? null,
      filter.by ?? null,
      filter.subject ?? null,
      ...Array<string | null>(3).fill(filter.action ?? null),
      limit,
    ],
  );
