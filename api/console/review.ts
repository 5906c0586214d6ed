import { shareOfLies } from "#api/console/chance.ts";
import { recordCalls, shownStations, waking } from "#api/console/batches.ts";
import {
  actCall,
  actorOf,
  actsCall,
  consoleCall,
  type ConsoleCall,
} from "#api/console/operator-gate.ts";
import { orThrow } from "#api/http/errors.ts";
import type { ConsoleDeps } from "#api/console/deps.ts";
import { within } from "#src/operators/inputs.ts";
import { decideBatch } from "#src/marks/bulk-decisions.ts";
import { previewApproval } from "#src/marks/effects.ts";
import { heldGroups } from "#src/marks/held-groups.ts";
import { heldRows } from "#src/marks/held.ts";
import { reviewMark, undoReview } from "#src/marks/review-mark.ts";
import { selected, selectionOf } from "#src/marks/mark-selection.ts";

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
