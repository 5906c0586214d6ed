import { Type } from "typebox";
import { moment, rowId } from "#api/console/fields.ts";
import { actorOf, consoleCall, type ConsoleCall } from "#api/console/operator-gate.ts";
import { orThrow } from "#api/http/errors.ts";
import type { Services } from "#api/http/services.ts";
import { blockNetwork, blockReporter } from "#src/marks/blocks.ts";

/** ms; null ends a block. */
const wish = Type.Object(
  { until: Type.Union([moment, Type.Null()]) },
  { additionalProperties: false },
);

/** Holds what a reporter or a viewers' network sends until a time (decisions 4.13). */
export const blockCalls = ({ db, clock }: Services): ConsoleCall[] => [
  consoleCall("POST", "/reporters/{id}/block", { role: "operator", body: wish }, async (ctx) => {
    const id = rowId(ctx.params["id"], Number.MAX_SAFE_INTEGER);
    const { until } = ctx.state.body;
    ctx.body = orThrow(await blockReporter(db, actorOf(ctx), id, until, clock()));
  }),
  consoleCall("POST", "/networks/{id}/block", { role: "operator", body: wish }, async (ctx) => {
    const digits = ctx.params["id"] ?? "";
    const { until } = ctx.state.body;
    const known = /^[0-9a-f]{8,64}$/.test(digits) ? digits : "0".repeat(64);
    ctx.body = orThrow(await blockNetwork(db, actorOf(ctx), known, until, clock()));
  }),
];
