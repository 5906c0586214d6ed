import { actorOf, consoleCall, type ConsoleCall, idOf } from "#api/console/operator-gate.ts";
import { orThrow } from "#api/http/errors.ts";
import type { ConsoleDeps } from "#api/console/deps.ts";
import { slices } from "#src/infrastructure/lists.ts";
import { type BatchAct, type Committed, listBatches } from "#src/marks/bulk-decisions.ts";
import { showBatch } from "#src/marks/effects.ts";
import { undoDecision } from "#src/marks/undo-decision.ts";
import { rowId } from "#src/operators/inputs.ts";
import { inMs, presented } from "#src/operators/presented.ts";

/** Maximum number of stations whose changes a preview or a record lists. */
export const shownStations = 50;
const wakeStations = 200;
const listed = 50;

/** Wakes the marks workers for these stations, after the commit. */
export const waking =
  ({ producer }: Pick<ConsoleDeps, "producer">): Committed =>
  (stationIds) => {
    for (const some of slices(stationIds, wakeStations)) producer.wakeMarks(some);
  };

/** The records of these acts below `path`: all, one with its changes, and taking it back (decisions 4.20). */
export const recordCalls = (
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
