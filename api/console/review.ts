import { Type } from "typebox";
import { shareOfLies } from "#api/console/chance.ts";
import {
  actCall,
  actorOf,
  actsCall,
  consoleCall,
  type ConsoleCall,
  idOf,
} from "#api/console/operator-gate.ts";
import { orThrow } from "#api/http/errors.ts";
import type { ConsoleDeps } from "#api/console/deps.ts";
import { comment, within, rowId } from "#src/operators/inputs.ts";
import {
  decideBatch,
  type BatchAct,
  type Committed,
  listBatches,
} from "#src/marks/bulk-decisions.ts";
import { previewApproval, previewRollback, showBatch } from "#src/marks/effects.ts";
import { heldGroups } from "#src/marks/held-groups.ts";
import { heldRows } from "#src/marks/held.ts";
import { reviewMark, undoReview } from "#src/marks/review-mark.ts";
import { selected, selectionOf } from "#src/marks/mark-selection.ts";
import { blockNetwork, blockReporter, type SourceBlock } from "#src/marks/source-blocks.ts";
import { undoDecision } from "#src/marks/undo-decision.ts";
import { inMs, presented } from "#src/operators/presented.ts";

const shown = 200;
const id = within(1, Number.MAX_SAFE_INTEGER);

/** Marks that the review holds (decisions 4): one by one or many together. */
export const reviewCalls = (services: ConsoleDeps): ConsoleCall[] => [
  consoleCall("GET", "/review", { role: "viewer" }, async (ctx) => {
    const { db, clock } = services;
    ctx.body = await heldRows(db, shown, clock());
  }),
  actsCall(services, "/review/approve", reviewMark.approve, { id, done: "decided" }),
  actsCall(services, "/review/reject", reviewMark.reject, { id, done: "decided" }),
  actCall(services, "POST", "/review/{id}/undo", undoReview, {
    answer: ({ review }) => ({ review }),
  }),
  consoleCall("GET", "/review/groups", { role: "viewer" }, async (ctx) => {
    ctx.body = { groups: await heldGroups(services.db, await shareOfLies(services)) };
  }),
  consoleCall("POST", "/review/preview", { role: "viewer", body: selected }, async (ctx) => {
    const selection = selectionOf(ctx.state.body);
    const { db, config } = services;
    ctx.body = orThrow(await previewApproval(db, selection, config, shownStations));
  }),
  groupDecision(services, "approve"),
  groupDecision(services, "reject"),
  ...recordCalls(services, "/review/decisions", ["approve", "reject"]),
];

/** All held marks of a selection, in one decision that can be taken back (decisions 4.21). */
const groupDecision = (services: ConsoleDeps, act: "approve" | "reject"): ConsoleCall =>
  consoleCall(
    "POST",
    `/review/groups/${act}`,
    { role: "operator", body: selected },
    async (ctx) => {
      const selection = selectionOf(ctx.state.body);
      const done = decideBatch(services.db, actorOf(ctx), act, selection, waking(services));
      ctx.body = orThrow(await done);
    },
  );

const answer = (block: SourceBlock) => block;

/** Holds the marks of a reporter or of a viewers' network until a time (decisions 4.13). */
export const blockCalls = (services: ConsoleDeps): ConsoleCall[] => [
  actCall(services, "POST", "/reporters/{id}/block", blockReporter, { answer }),
  actCall(services, "POST", "/networks/{id}/block", blockNetwork, { answer }),
];

const withReason = Type.Object(
  { ...selected.properties, reason: Type.Optional(comment) },
  { additionalProperties: false },
);

/** Withdrawing a campaign's marks as if they had never been made (decisions 4): first shown, then done. */
export const rollbackCalls = (services: ConsoleDeps): ConsoleCall[] => [
  consoleCall("POST", "/rollback/preview", { role: "viewer", body: selected }, async (ctx) => {
    const { db, config } = services;
    const preview = await previewRollback(db, selectionOf(ctx.state.body), config, shownStations);
    ctx.body = orThrow(preview);
  }),
  consoleCall("POST", "/rollback", { role: "operator", body: withReason }, async (ctx) => {
    const { reason = "", ...given } = ctx.state.body;
    const selection = selectionOf(given);
    const [actor, wake] = [actorOf(ctx), waking(services)];
    const done = decideBatch(services.db, actor, "rollback", selection, wake, reason.trim());
    ctx.body = orThrow(await done);
  }),
  ...recordCalls(services, "/rollbacks", ["rollback"]),
];

/** Maximum number of stations whose changes a preview or a record lists. */
const shownStations = 50;
const listed = 50;

/** Wakes the marks workers for these stations, after the commit. */
function waking({ producer }: ConsoleDeps): Committed {
  return (stationIds) => producer.wakeMarks(stationIds);
}

/** The records of these acts below `path`: all, one with its changes, and taking it back (decisions 4.20). */
const recordCalls = (
  services: ConsoleDeps,
  path: string,
  acts: readonly BatchAct[],
): ConsoleCall[] => {
  const { db, config } = services;
  return [
    consoleCall("GET", path, { role: "viewer" }, async (ctx) => {
      const batches = await listBatches(db, acts, listed);
      ctx.body = { batches: batches.map((batch) => presented(batch, inMs)) };
    }),
    consoleCall("GET", `${path}/{id}`, { role: "viewer" }, async (ctx) => {
      ctx.body = orThrow(
        await showBatch(db, acts, idOf(rowId, ctx.params["id"]), config, shownStations),
      );
    }),
    consoleCall("POST", `${path}/{id}/undo`, { role: "operator" }, async (ctx) => {
      const id = idOf(rowId, ctx.params["id"]);
      ctx.body = orThrow(await undoDecision(db, actorOf(ctx), acts, id, waking(services)));
    }),
  ];
};
