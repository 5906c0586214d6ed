import { Type } from "typebox";
import { recordCalls, shownStations, waking } from "#api/console/batches.ts";
import {
  actCall,
  actorOf,
  byOf,
  consoleCall,
  type ConsoleCall,
} from "#api/console/operator-gate.ts";
import { orThrow } from "#api/http/errors.ts";
import type { Services } from "#api/http/services.ts";
import { isRefusal } from "#src/contract/refusals.ts";
import { decideBatch } from "#src/marks/batches.ts";
import { previewApproval } from "#src/marks/effects.ts";
import { heldGroups } from "#src/marks/held-groups.ts";
import { heldRows } from "#src/marks/held.ts";
import { reviewMark, undoReview } from "#src/marks/review-mark.ts";
import { selected, selectionOf } from "#src/marks/selection.ts";

const shown = 200;
const together = 500;

const marks = Type.Object({
  ids: Type.Array(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), {
    minItems: 1,
    maxItems: together,
  }),
});

/** Marks that the mass-`no` review holds (decisions 4): one by one or many together. */
export const reviewCalls = (services: Services): ConsoleCall[] => [
  consoleCall("GET", "/review", { role: "viewer" }, async (ctx) => {
    const { db, clock, config } = services;
    ctx.body = await heldRows(db, shown, clock(), config);
  }),
  decision(services, "approve"),
  decision(services, "reject"),
  actCall(services, "POST", "/review/{id}/undo", undoReview, {
    answer: ({ review }) => ({ review }),
  }),
  consoleCall("GET", "/review/groups", { role: "viewer" }, async (ctx) => {
    ctx.body = { groups: await heldGroups(services.db) };
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
const groupDecision = (services: Services, act: "approve" | "reject"): ConsoleCall =>
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

const decision = (services: Services, verb: "approve" | "reject"): ConsoleCall =>
  consoleCall("POST", `/review/${verb}`, { role: "operator", body: marks }, async (ctx) => {
    // `missed`: no such mark, or another operator was faster.
    const answer = { decided: [] as number[], missed: [] as number[] };
    // A transaction each, in one order: none waits for locks that another decision holds in another order.
    for (const id of [...new Set(ctx.state.body.ids)].sort((a, b) => a - b)) {
      const mark = await reviewMark[verb](byOf(services, ctx), {}, id);
      answer[isRefusal(mark) ? "missed" : "decided"].push(id);
    }
    ctx.body = answer;
  });
