import { rows, type Tx } from "#src/infrastructure/db.ts";
import { lockStations } from "#src/infrastructure/locks.ts";
import { type Batch, batchActs, lockBatch, takeMarks } from "#src/marks/bulk-decisions.ts";
import { restoreMarks } from "#src/marks/undo-decision.ts";
import { already, changed, nothing, operatorAct, unknown } from "#src/operators/act.ts";
import { longId } from "#src/operators/inputs.ts";

/** A mark that was decided: its station, and its review now. */
export interface Reviewed {
  stationId: string;
  review: string;
}

/**
 * Decides one held mark. An approved mark counts from its own effective time: it waits for the marks worker as a new
 * one does, and its station is folded anew. A rejected mark never counts, and nothing that is served changes. The
 * decision has a record, by which `undoReview` takes it back (decisions 13.20). A mark that is not held gives `already`
 * with its review: `none`, `approved`, `rejected`, `withdrawn` …
 */
const reviewing = (verb: "approve" | "reject") =>
  operatorAct(nothing, longId, async (tx, _, id, { actor }) => {
    const before = await findReviewed(tx, id);
    if (before === undefined) return unknown("mark", id);
    const { stationId } = before;
    await lockStations(tx, [stationId], "wait");
    const now = (await findReviewed(tx, id, "for update")) ?? before;
    if (now.stationId !== stationId) return changed("mark", id, hasMoved);
    if (now.review !== "held") return already("mark", id, now.review);
    const [record] = await rows<{ id: number }>(
      tx,
      `insert into mark_batches (act, selection, actor, stations, finished_at)
       values (?, jsonb_build_object('mark', ?::bigint), ?, 1, server_now()) returning id`,
      [verb, id, actor],
    );
    await takeMarks(tx, record!.id, verb, { mark: id }, [stationId]);
    const value = { stationId, review: batchActs[verb].becomes };
    const details = { station: stationId, id: record!.id };
    const entry = { action: batchActs[verb].action, subject: `mark ${id}`, details };
    const touched = verb === "approve" ? [stationId] : [];
    return { value, ...entry, undo: { path: `/review/${id}/undo` }, touched };
  });

const hasMoved = "has moved to another station meanwhile: try again";

export const reviewMark = { approve: reviewing("approve"), reject: reviewing("reject") };

/**
 * Takes the decision about one mark back: it is held again, as it was, and its station is folded anew. A mark that was
 * decided together with others, or that has changed since, gives `changed`, and nothing is done.
 */
export const undoReview = operatorAct(nothing, longId, async (tx, _, id, { actor }) => {
  const mark = await findReviewed(tx, id);
  if (mark === undefined) return unknown("mark", id);
  // Locks the record before the station, in the same order as the reversal of a decision about many marks.
  const [kept] = await rows<{ id: number; alone: boolean }>(
    tx,
    `select b.id, b.selection = jsonb_build_object('mark', k.mark_id) as alone
       from mark_batch_marks k join mark_batches b on b.id = k.batch_id
       where k.mark_id = ? and b.act in ('approve', 'reject') order by b.id desc limit 1`,
    [id],
  );
  const batch = kept?.alone === true ? await lockBatch(tx, kept.id) : undefined;
  await lockStations(tx, [mark.stationId], "wait");
  const now = (await findReviewed(tx, id, "for update")) ?? mark;
  if (now.stationId !== mark.stationId) return changed("mark", id, hasMoved);
  const restored =
    batch !== undefined && now.review === batchActs[batch.act].becomes
      ? await restoreMarks(tx, batch, [mark.stationId])
      : null;
  if (batch === undefined || restored === null || restored.marks === 0)
    return changed("mark", id, whyNot(now.review, kept));
  await rows(
    tx,
    `update mark_batches set undo_at = server_now(), undo_actor = ?, undone_at = server_now() where id = ?`,
    [actor, batch.id],
  );
  const value = { stationId: mark.stationId, review: "held" };
  const { action } = batchActs[batch.act];
  const details = { station: mark.stationId };
  const touched = [mark.stationId];
  return { value, action: `${action}-undo`, subject: `mark ${id}`, details, touched };
});

function whyNot(review: string, kept: Pick<Batch, "id"> | undefined): string {
  if (review === "held")
    return "is held: somebody has taken the decision back already, or nobody has decided it";
  if (review !== "approved" && review !== "rejected")
    return `is ${review === "none" ? "counted without a review" : review}: there is no decision to take back`;
  return kept === undefined
    ? `is ${review}, and what it was before is not kept`
    : `was decided together with others: take decision ${kept.id} back as a whole`;
}

const findReviewed = async (tx: Tx, id: number, locking = ""): Promise<Reviewed | undefined> =>
  (
    await rows<Reviewed>(
      tx,
      `select station_id as "stationId", review from marks where id = ? ${locking}`,
      [id],
    )
  )[0];
