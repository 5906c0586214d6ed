import { Type } from "typebox";
import { actorOf, consoleCall, type ConsoleCall } from "#api/console/operator-gate.ts";
import { recordCalls, shownStations, waking } from "#api/console/batches.ts";
import { orThrow } from "#api/http/errors.ts";
import type { ConsoleDeps } from "#api/console/deps.ts";
import { decideBatch } from "#src/marks/bulk-decisions.ts";
import { previewRollback } from "#src/marks/effects.ts";
import { selected, selectionOf } from "#src/marks/mark-selection.ts";
import { comment } from "#src/operators/inputs.ts";

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
