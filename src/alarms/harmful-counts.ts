import type { ServedStatus } from "#src/domain/vocabulary.ts";
import { addTo, type Db, rows, type Statements } from "#src/infrastructure/db.ts";
import { columnsOf } from "#src/infrastructure/lists.ts";

/** A harmful change of a station's served content (decisions 4.3). Equal statuses: a detail changed. */
export interface HarmfulChange {
  from: ServedStatus;
  to: ServedStatus;
  /** A partner, or a viewer's network. */
  sourceKind: "partner" | "network";
}

/**
 * Counts harmful changes in the transaction that makes them: one statement. Send it close to the commit, before
 * `feed_stamp`: all processes count in the same few rows, in one order.
 */
export async function countHarmful(
  tx: Statements,
  changes: readonly HarmfulChange[],
): Promise<void> {
  if (changes.length === 0) return;
  const sql = `insert into harmful_changes as h (from_status, to_status, source_kind, count)
     select from_status, to_status, source_kind, count(*)
     from unnest(?::text[], ?::text[], ?::text[]) as c(from_status, to_status, source_kind)
     group by from_status, to_status, source_kind order by from_status, to_status, source_kind
     on conflict (from_status, to_status, source_kind) do update set ${addTo("h", "count")}`;
  await rows(tx, sql, columnsOf(changes, "from", "to", "sourceKind"), "count_harmful");
}

/** Number of harmful changes since the first one. Negative counts are left out, because Prometheus refuses them. */
export const readHarmful = (
  db: Db,
): Promise<{ from: string; to: string; source_kind: string; count: number }[]> =>
  rows(
    db,
    `select from_status as "from", to_status as "to", source_kind, count from harmful_changes
     where count >= 0 order by from_status, to_status, source_kind`,
  );
