import { isDeepStrictEqual } from "node:util";
import { actionsLike } from "#src/contract/decisions.ts";
import { rows, type Db, type Tx } from "#src/infrastructure/db.ts";

/** An operator's action and its subject: `key.revoke`, `key 7`. Secrets never go into `details`. */
export interface OperatorAction {
  actor: string;
  action: string;
  subject: string;
  details?: object;
  undo?: Undo | null;
}

/** The console's call that takes an act back; `until`, ms: there is nothing to take back afterwards. */
export interface Undo {
  method?: "PATCH" | "DELETE";
  path: string;
  body?: object;
  until?: number;
}

/** An action with its time. */
export interface LoggedAction extends Required<Omit<OperatorAction, "undo">> {
  id: number;
  at: Date;
}

/** Logs an operator's action, in the transaction that does it. */
export async function logAction(
  tx: Tx,
  { actor, action, subject, details = {}, undo = null }: OperatorAction,
): Promise<void> {
  const sql =
    "insert into operator_log (actor, action, subject, details, undo) values (?, ?, ?, ?::jsonb, ?::jsonb)";
  const call = undo === null ? null : JSON.stringify(undo);
  await rows(tx, sql, [actor, action, subject, JSON.stringify(details), call]);
}

/** For the details of an act: these fields where they differ, as they were and as they are. */
export function changeOf<Row extends object>(
  old: Row,
  now: Row,
  fields: readonly (keyof Row)[],
): { before: Partial<Row>; after: Partial<Row> } {
  const changed = fields.filter((field) => !isDeepStrictEqual(old[field], now[field]));
  const only = (row: Row): Partial<Row> =>
    Object.fromEntries(changed.map((field) => [field, row[field]])) as Partial<Row>;
  return { before: only(old), after: only(now) };
}

/** The undo of a change: to the values before it, as long as those after it are still there; null if nothing changed. */
export const undoOf = (path: string, before: object, after: object): Undo | null =>
  isDeepStrictEqual(before, after)
    ? null
    : { method: "PATCH", path, body: { ...before, was: after } };

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

/** A decision with its undo and the next act of the same subject that changes the same. */
export type LoggedDecision = LoggedAction & { undo: Undo | null; next: LoggedAction | null };

/**
 * Decisions of operators, the newest first, at most `limit`; only that with the id `entry`, if it is given. `changes`:
 * the actions to show, each with those that take its place later.
 */
export const listDecisions = (
  db: Db,
  changes: Readonly<Record<string, readonly string[]>>,
  {
    actor,
    before,
    entry,
  }: { actor?: string | undefined; before?: number | undefined; entry?: number | undefined },
  limit: number,
): Promise<LoggedDecision[]> =>
  rows<LoggedDecision>(
    db,
    `with page as (
       select id, at, actor, action, subject, details, undo from operator_log
       where action = any(?::text[]) and id = coalesce(?::bigint, id) and id < coalesce(?::bigint, id + 1)
         and actor ilike ? and coalesce(details ->> 'part', '1') = '1'
       order by id desc limit ?
     ), later as (
       -- One look at what is newer, for all of the page.
       select distinct on (p.id) p.id, to_jsonb(n) as next from page p
         join operator_log n on ${changesSame}
       where n.id > (select min(id) from page)
       order by p.id, n.id
     )
     select page.*, next from page left join later using (id) order by id desc`,
    [
      Object.keys(changes),
      entry ?? null,
      before ?? null,
      containing(actor ?? ""),
      limit,
      JSON.stringify(changes),
    ],
  );

/** True for an entry `n` that is later than `p` and changes the same. An edit of other fields takes nobody's place. */
const changesSame = `n.subject = p.subject and n.id > p.id and (?::jsonb -> p.action) @> to_jsonb(n.action)
  and (jsonb_typeof(n.details -> 'after') is distinct from 'object' or exists (
    select from jsonb_object_keys(n.details -> 'after') f where jsonb_exists(p.details -> 'after', f)))`;

/** The first entry that is later than the entry `id` and changes the same; null if there is none. */
export async function changeSince(tx: Tx, id: number): Promise<OperatorAction | null> {
  const sql = `select n.* from operator_log p join operator_log n on ${changesSame}
    where p.id = ? order by n.id limit 1`;
  return (await rows<OperatorAction>(tx, sql, [JSON.stringify(actionsLike()), id]))[0] ?? null;
}

/** A pattern for ILIKE that matches `text` literally, anywhere. */
export const containing = (text: string): string => `%${text.replace(/[\\%_]/g, "\\$&")}%`;
