import { rows, type Db } from "#src/infrastructure/db.ts";
import type { ConsoleLogEntry } from "#src/contract/console.ts";
import { msOf } from "#src/marks/marks.ts";

/** What of the operator's log is looked for; texts are parts of words, regardless of case. */
export interface LogFilter {
  actor?: string | undefined;
  action?: string | undefined;
  subject?: string | undefined;
  /** Older than this entry. */
  before?: number | undefined;
}

/** Entries of the operator's log, newest first, at most `limit`. */
export const listLog = (
  db: Db,
  { actor, action, subject, before }: LogFilter,
  limit: number,
): Promise<ConsoleLogEntry[]> =>
  rows<ConsoleLogEntry>(
    db,
    `select id, ${msOf("at")} as at, actor, action, subject, details from operator_log
     where id < coalesce(?::bigint, 9223372036854775807)
       and actor ilike ? and action ilike ? and subject ilike ?
     order by id desc limit ?`,
    [before ?? null, part(actor), part(action), part(subject), limit],
  );

/** A pattern for ILIKE that matches `text` anywhere, as it stands. */
export const part = (text = ""): string => `%${text.replace(/[\\%_]/g, "\\$&")}%`;
