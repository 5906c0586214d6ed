import type { ConsoleBatchLine, StillWithdrawn } from "#src/contract/console-review.ts";
import { isRefusal, type Refusal } from "#src/contract/refusals.ts";
import { type Db, rows, type Tx } from "#src/infrastructure/db.ts";
import { slices } from "#src/infrastructure/lists.ts";
import { askRefold, type ChangedEvent, lockStations } from "#src/infrastructure/locks.ts";
import { idsBetween, msOf } from "#src/marks/marks.ts";
import {
  readableSelection,
  refuseSelection,
  type Review,
  type Selection,
  selectedStations,
  whereSelected,
  withdrawable,
} from "#src/marks/mark-selection.ts";
import { act, already, unknown } from "#src/operators/act.ts";

/** The record of a decision about many marks (decisions 4.20). Times are null until they are reached. */
export interface Batch extends Omit<
  ConsoleBatchLine,
  "selection" | "started" | "finished" | "undo" | "undone"
> {
  selection: Selection;
  started_at: Date;
  finished_at: Date | null;
  undo_at: Date | null;
  undone_at: Date | null;
}

export type BatchAct = Batch["act"];

/** Called after each commit, with the stations for the marks worker and the progress. */
export type Committed = (stationIds: string[], done: number, total: number) => void;

/**
 * The name of each act, the marks that it takes, their new review, and whether their stations are folded anew. A mark
 * that was withdrawn before a worker came to it is never processed.
 */
export const batchActs: Readonly<Record<BatchAct, Act>> = {
  rollback: {
    what: "rollback",
    action: "marks.rollback",
    takes: withdrawable,
    becomes: "withdrawn",
    also: ", processed_at = coalesce(processed_at, server_now()), failed_at = null",
    refolds: true,
  },
  approve: {
    what: "decision",
    action: "review.approve",
    takes: ["held"],
    becomes: "approved",
    also: ", processed_at = null",
    refolds: true,
  },
  reject: {
    what: "decision",
    action: "review.reject",
    takes: ["held"],
    becomes: "rejected",
    also: "",
    refolds: false,
  },
};

interface Act {
  what: string;
  action: string;
  takes: readonly Review[];
  becomes: string;
  also: string;
  refolds: boolean;
}

/** Stations that one transaction decides. */
export const chunkStations = 500;

/** Columns of a mark that a decision, or the worker after it, changes: kept for the reversal. */
export const keptColumns = [
  ...["review", "processed_at", "failed_at", "outcome", "outcome_status", "outcome_reason"],
  ...["outcome_have", "needed", "rule"],
] as const;

/**
 * Decides a selection's marks: 500 stations a transaction, each with its entry in the operator's log. After an
 * interruption the same call goes on under the same id. `id` is null when there was nothing to decide.
 */
export async function decideBatch(
  db: Db,
  actor: string,
  name: BatchAct,
  selection: Selection,
  committed: Committed,
  /** Why, for the operator's log. */
  reason = "",
): Promise<{ id: number | null; marks: number; stations: number } | Refusal> {
  const { action, takes } = batchActs[name];
  const refused = await refuseSelection(db, selection, takes);
  if (refused !== null) return refused;
  const [opened] = await rows<Batch>(db, openSql, [name, JSON.stringify(selection), actor]);
  const { id, marks } = opened!;
  const found = await selectedStations(db, selection, takes);
  // A rollback that withdraws nothing is none.
  if (name === "rollback" && marks + found.length > 0) {
    const { sql, bindings } = coveredRows(selection);
    const alsoSql = `select distinct station_id, 0 as marks from ${sql} and batch_id <> ?`;
    found.push(...(await rows<(typeof found)[0]>(db, alsoSql, [...bindings, id])));
  }
  const all = [...new Set(found.map((row) => row.station_id))].sort();
  const stationsSql = "update mark_batches set stations = stations_done + ? where id = ?";
  await rows(db, stationsSql, [all.length, id]);
  const sum = { marks: 0, stations: 0 };
  for (const [index, chunk] of [...slices(all, chunkStations)].entries()) {
    const part = all.length > chunkStations ? { part: index + 1 } : {};
    const decided = await act(db, actor, async (tx) => {
      const { undo_at } = (await lockBatch(tx, id))!;
      if (undo_at !== null) return isTakenBack(name, id);
      const value = await takeMarks(tx, id, name, selection, chunk);
      // With its last marks: nobody would ask again for what has none left, after a process that died here.
      if ((index + 1) * chunkStations >= all.length) await closeBatch(tx, id);
      const marks = value.marks;
      const stations = value.stationIds.length;
      return {
        value,
        action,
        subject: `${marks} marks at ${stations} stations`,
        details: {
          ...{ ...readableSelection(selection), id, marks, stations, ...part },
          ...(reason === "" ? {} : { reason }),
        },
      };
    });
    if (isRefusal(decided)) return decided;
    sum.marks += decided.marks;
    sum.stations += decided.stationIds.length;
    committed(decided.stationIds, index * chunkStations + chunk.length, all.length);
  }
  return { id: await closeBatch(db, id), ...sum };
}

export const isTakenBack = (name: BatchAct, id: number): Refusal =>
  already(batchActs[name].what, id, "taken back");

/** The record, or that of the same decision under way: made before the marks are looked for, so that two share one. */
const openSql = `insert into mark_batches (act, selection, actor, stations) values (?, ?::jsonb, ?, 0)
  on conflict (act, md5(selection::text)) where finished_at is null and undo_at is null
  do update set stations = mark_batches.stations returning id, marks`;

/** SQL for the id of a rollback that covers the mark of the row `k` too, and is not taken back (decisions 4.23). */
export const coveringSql = `select min(o.batch_id) from mark_batch_marks o join mark_batches b on b.id = o.batch_id
  where o.mark_id = k.mark_id and o.batch_id <> k.batch_id and b.act = 'rollback' and b.undo_at is null`;

/** From the covering rollback of each mark, null without one; empty when there is none. */
export const stillWithdrawn = (all: readonly (number | null)[]): Partial<StillWithdrawn> => {
  const by = all.filter((id) => id !== null);
  return by.length === 0 ? {} : { still_withdrawn: by.length, withdrawn_by: [...new Set(by)] };
};

/** SQL for the kept rows of the selection's marks that rollbacks have withdrawn. */
function coveredRows(selection: Selection): { sql: string; bindings: unknown[] } {
  const { sql, bindings } = whereSelected(selection, ["withdrawn"]);
  const ofRollbacks = "batch_id in (select b.id from mark_batches b where b.act = 'rollback')";
  const from = `mark_batch_marks where ${ofRollbacks} and mark_id in (select id from marks where ${sql})`;
  return { sql: from, bindings };
}

/** Ends the record, or drops it when it has no mark. */
async function closeBatch(db: Db | Tx, id: number): Promise<number | null> {
  const sql = `with gone as (delete from mark_batches where id = ? and marks = 0
      and not exists (select from mark_batch_marks k where k.batch_id = mark_batches.id) returning id)
    update mark_batches set finished_at = coalesce(finished_at, server_now())
    where id = ? and not exists (select from gone) returning id`;
  return (await rows<{ id: number }>(db, sql, [id, id]))[0]?.id ?? null;
}

/** The locked record: deciding and taking back do one transaction of it at a time. */
export const lockBatch = async (tx: Tx, id: number): Promise<Batch | undefined> =>
  (await rows<Batch>(tx, "select * from mark_batches where id = ? for update", [id]))[0];

/** Stores the old values of the selection's marks at these stations, then changes them. Gives the changed stations. */
export async function takeMarks(
  tx: Tx,
  id: number,
  name: BatchAct,
  selection: Selection,
  stationIds: readonly string[],
): Promise<{ marks: number; stationIds: string[] }> {
  const { takes, becomes, also, refolds } = batchActs[name];
  await lockStations(tx, stationIds, "wait");
  const { sql, bindings } = whereSelected(selection, takes);
  const columns = keptColumns.join(", ");
  const into = `insert into mark_batch_marks (batch_id, mark_id, station_id, ${columns})`;
  if (name === "rollback") {
    // Marks that another rollback has withdrawn: they stay so until both are taken back (decisions 4.23).
    const covered = coveredRows(selection);
    const coverSql = `${into} select distinct on (mark_id) ?::int, mark_id, station_id, ${columns}
      from ${covered.sql} and station_id = any(?::text[]) on conflict do nothing`;
    await rows(tx, coverSql, [id, ...covered.bindings, stationIds]);
  }
  const taken = await rows<{ mark_id: number; station_id: string }>(
    tx,
    `${into} select ?, id, station_id, ${columns} from marks where ${sql} and station_id = any(?::text[]) for update
     returning mark_id, station_id`,
    [id, ...bindings, stationIds],
  );
  const ids = taken.map((mark) => mark.mark_id);
  const changed = await rows<ChangedEvent>(
    tx,
    `update marks set review = '${becomes}'${also}
     where id = any(?::bigint[]) and ${idsBetween(ids)}
     returning station_id, ${msOf("effective_at")} as at`,
    [ids],
  );
  await rows(
    tx,
    "update mark_batches set marks = marks + ?, stations_done = least(stations, stations_done + ?) where id = ?",
    [ids.length, stationIds.length, id],
  );
  const touched = [...new Set(taken.map((mark) => mark.station_id))];
  if (refolds) await askRefold(tx, changed);
  return { marks: ids.length, stationIds: touched };
}

/** Records of these acts, the newest first. */
export const listBatches = (db: Db, acts: readonly BatchAct[], limit: number): Promise<Batch[]> =>
  rows(db, "select * from mark_batches where act = any(?::text[]) order by id desc limit ?", [
    acts,
    limit,
  ]);

/** One record of these acts. */
export async function findBatch(
  db: Db | Tx,
  acts: readonly BatchAct[],
  id: number,
): Promise<Batch | Refusal> {
  const sql = "select * from mark_batches where id = ? and act = any(?::text[])";
  const [found] = await rows<Batch>(db, sql, [id, acts]);
  return found ?? unknown(batchActs[acts[0]!].what, id);
}
