import { Type } from "typebox";
import { actorOf, consoleCall, type ConsoleCall } from "#api/console/operator-gate.ts";
import { comment, daily, rowId, rpm } from "#api/console/fields.ts";
import { orThrow } from "#api/http/errors.ts";
import type { Services } from "#api/http/services.ts";
import { dayMs } from "#src/domain/units.ts";
import {
  approveLimitRequest,
  limitRequestRows,
  rejectLimitRequest,
  undoLimitDecision,
} from "#src/limits/limit-requests.ts";
import { minuteFigures } from "#src/limits/usage-minutes.ts";

const shown = 300;
const busyDays = 14;

const approval = Type.Object({
  rpm: Type.Optional(rpm),
  daily: Type.Optional(daily),
  comment: Type.Optional(comment),
});
const rejection = Type.Object({ comment: Type.Optional(comment) });

/** Partners' requests for other limits (docs/contract.md 3.3), beside what they use. */
export const limitRequestCalls = (services: Services): ConsoleCall[] => [
  consoleCall("GET", "/limit-requests", { role: "viewer" }, async (ctx) => {
    const requests = await limitRequestRows(services.db, shown);
    const minutes = await busyMinutes(
      services,
      requests.filter(({ status }) => status === "pending").map(({ partner_id }) => partner_id),
    );
    ctx.body = {
      requests: requests.map((request) => ({
        ...request,
        minutes: minutes.get(request.partner_id) ?? null,
      })),
    };
  }),
  consoleCall(
    "POST",
    "/limit-requests/{id}/approve",
    { role: "operator", body: approval },
    async (ctx) => {
      const id = rowId(ctx.params["id"]);
      const { body } = ctx.state;
      const approved = await approveLimitRequest(services.db, actorOf(ctx), id, body);
      const { rpm, daily } = orThrow(approved).partner;
      ctx.body = { rpm, daily };
    },
  ),
  consoleCall(
    "POST",
    "/limit-requests/{id}/reject",
    { role: "operator", body: rejection },
    async (ctx) => {
      const id = rowId(ctx.params["id"]);
      const { comment } = ctx.state.body;
      orThrow(await rejectLimitRequest(services.db, actorOf(ctx), id, comment));
      ctx.status = 204;
    },
  ),
  consoleCall("POST", "/limit-requests/{id}/undo", { role: "operator" }, async (ctx) => {
    const id = rowId(ctx.params["id"]);
    ctx.body = orThrow(await undoLimitDecision(services.db, actorOf(ctx), id)).limits;
  }),
];

/** How busy these partners' minutes were; none while Redis is away. */
async function busyMinutes({ redis, config, clock }: Services, partnerIds: readonly number[]) {
  const today = Math.floor(clock() / dayMs);
  const found = partnerIds.map(async (id) => {
    const figures = minuteFigures(redis, config.redisPrefix, id, today, busyDays);
    return [id, await figures.catch(() => null)] as const;
  });
  return new Map(await Promise.all(found));
}
