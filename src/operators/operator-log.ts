import { rows, type Db, type Tx } from "#src/infrastructure/db.ts";

/** An operator's action and its subject: `key.revoke`, `key 7`. Secrets never go into `details`. */
export interface OperatorAction {
  actor: string;
  action: string;
  subject: string;
  details?: object;
}

/** An action with its time. */
export interface LoggedAction extends Required<OperatorAction> {
  id: number;
  at: Date;
}

/** Logs an operator's action, in the transaction that does it. */
export async function logAction(
  tx: Tx,
  { actor, action, subject, details = {} }: OperatorAction,
): Promise<void> {
  const sql =
    "insert into operator_log (actor, action, subject, details) values (?, ?, ?, ?::jsonb)";
  await rows(tx, sql, [actor, action, subject, JSON.stringify(details)]);
}

/** Logs the import of a file. A list of thousands of pairs is logged as its length. */
export const logImport = (
  tx: Tx,
  actor: string,
  noun: string,
  file: string,
  summary: { source: string },
): Promise<void> => {
  const numbers = Object.entries(summary).map(([name, value]: [string, unknown]) => [
    name,
    Array.isArray(value) ? value.length : value,
  ]);
  return logAction(tx, {
    actor,
    action: `${noun}.import`,
    subject: `${noun} of ${summary.source}`,
    details: { file, ...Object.fromEntries(numbers) },
  });
};

export interface LogFilter {
  actor?: string | undefined;
  action?: string | undefined;
  subject?: string | undefined;
  /** Times in ms, UTC; `until` is outside. */
  since?: number | undefined;
  until?: number | undefined;
  /** Only entries older than the one with this id. */
  before?: number | undefined;
}

/**
 * Operators' actions, the newest first, at most `limit`. `exact`: actor and subject as they are written, an action
 * (`key.revoke`) or its noun (`key`). `part`: texts that contain these, regardless of case.
 */
export async function listActions(
  db: Db,
  { actor, action, subject, since, until, before }: LogFilter,
  match: "exact" | "part",
  limit: number,
): Promise<LoggedAction[]> {
  const log = db("operator_log").select<LoggedAction[]>(
    ...(["id", "at", "actor", "action", "subject", "details"] as const),
  );
  if (since !== undefined) log.where("at", ">=", new Date(since));
  if (until !== undefined) log.where("at", "<", new Date(until));
  if (before !== undefined) log.where("id", "<", before);
  for (const [column, text] of Object.entries({ actor, action, subject })) {
    if (text === undefined) continue;
    if (match === "part") log.whereILike(column, containing(text));
    else if (column !== "action") log.where(column, text);
    else log.whereRaw("? in (action, split_part(action, '.', 1))", [text]);
  }
  return log.orderBy("id", "desc").limit(limit);
}

/** A pattern for ILIKE that matches `text` literally, anywhere. */
export const containing = (text: string): string => `%${text.replace(/[\\%_]/g, "\\$&")}%`;
