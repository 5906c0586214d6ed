import { Type } from "typebox";
import { actorOf, consoleCall, type ConsoleCall } from "#api/console/operator-gate.ts";
import type { Services } from "#api/http/services.ts";
import { heldRows, reviewMark } from "#src/marks/held.ts";
import { isNotDone } from "#src/operators/act.ts";

const shown = 200;
const together = 500;

const marks = Type.Object({
  ids: Type.Array(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), {
    minItems: 1,
    maxItems: together,
  }),
});

/** Marks that the mass-`no` review holds (docs/decisions.md 4): one by one or many together. */
export const reviewCalls = (services: Services): ConsoleCall[] => [
  consoleCall("GET", "/review", { role: "viewer" }, async (ctx) => {
    const { db, clock, config } = services;
    ctx.body = await heldRows(db, shown, clock(), config);
  }),
  decision(services, "approve"),
  decision(services, "reject"),
];

const decision = ({ db, producer }: Services, verb: "approve" | "reject"): ConsoleCall =>
  consoleCall("POST", `/review/${verb}`, { role: "operator", body: marks }, async (ctx) => {
    // `missed`: no such mark, or another operator was faster.
    const answer = { decided: [] as number[], missed: [] as number[] };
    // A transaction each, in one order: none waits for locks that another decision holds in another order.
    for (const id of [...new Set(ctx.state.body.ids)].sort((a, b) => a - b)) {
      const mark = await reviewMark(db, actorOf(ctx), id, verb);
      answer[isNotDone(mark) ? "missed" : "decided"].push(id);
      if (!isNotDone(mark) && verb === "approve") producer.wakeMarks([mark.stationId]);
    }
    ctx.body = answer;
  });
